<?php

// A Symfony application that records a task, sends it as an AsyncTaskMessage and reads the result
// from its own record: php async_task.php submit|read OPTIONS-AS-JSON. Prints a JSON value.

namespace App\Message {
    final class Report
    {
        public string $title = '';
    }

    final class AsyncTaskMessage
    {
        public function __construct(
            public readonly string $taskId,
            public readonly object $payload,
            public readonly string $payloadClass,
        ) {}
    }
}

namespace {

use App\Message\AsyncTaskMessage;
use App\Message\Report;
use Doctrine\DBAL\DriverManager;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\Connection;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransport;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\PostgreSqlConnection;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Transport\Serialization\Serializer as MessengerSerializer;
use Symfony\Component\Serializer\Encoder\JsonEncoder;
use Symfony\Component\Serializer\Normalizer\ObjectNormalizer;
use Symfony\Component\Serializer\Serializer;

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
date_default_timezone_set('UTC');

foreach (['Messenger', 'Messenger/Bridge/Doctrine', 'Serializer', 'PropertyAccess', 'PropertyInfo',
          'EventDispatcher'] as $component) {
    require "Symfony/Component/$component/autoload.php";
}
require 'Doctrine/DBAL/autoload.php';

/** Records in the table, with the eight columns that a Doctrine entity would have. */
final class TableRecords
{
    public function __construct(private Doctrine\DBAL\Connection $database) {}

    public function save(string $taskId, string $payload): void
    {
        $this->database->insert('async_tasks', [
            'task_id' => $taskId, 'status' => 'pending', 'payload' => $payload,
            'submitted_at' => gmdate('Y-m-d H:i:s')]);
    }

    public function load(string $taskId): array
    {
        return $this->database->fetchAssociative(
            'SELECT status, result, error FROM async_tasks WHERE task_id = ?', [$taskId]);
    }
}

/** Records in the keys task:{taskId}:… */
final class RedisRecords
{
    private Redis $redis;

    public function __construct(string $socket)
    {
        $this->redis = new Redis();
        $this->redis->connect($socket);
    }

    public function save(string $taskId, string $payload): void
    {
        $record = ['status' => 'pending', 'payload' => $payload, 'submitted_at' => (string) time()];
        $this->redis->multi();
        foreach ($record as $name => $value) {
            $this->redis->set("task:$taskId:$name", $value);
            $this->redis->expire("task:$taskId:$name", 86400);
        }
        $this->redis->exec();
    }

    public function load(string $taskId): array
    {
        $record = [];
        foreach (['status', 'result', 'error'] as $name) {
            $value = $this->redis->get("task:$taskId:$name");
            $record[$name] = false === $value ? null : $value;
        }

        return $record;
    }
}

function uuid4(): string
{
    $bytes = random_bytes(16);
    $bytes[6] = chr(ord($bytes[6]) & 0x0F | 0x40);
    $bytes[8] = chr(ord($bytes[8]) & 0x3F | 0x80);

    return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
}

$command = $argv[1];
$options = json_decode($argv[2], true, 512, \JSON_THROW_ON_ERROR);
$database = DriverManager::getConnection($options['connection']);
$records = isset($options['redis']) ? new RedisRecords($options['redis']) : new TableRecords($database);

if ('submit' === $command) {
    $configuration = ['table_name' => 'messenger_messages', 'queue_name' => 'async',
                      'redeliver_timeout' => 3600, 'auto_setup' => true,
                      'check_delayed_interval' => 0, 'get_notify_timeout' => 0];
    $connection = 'pdo_pgsql' === $options['connection']['driver']
        ? new PostgreSqlConnection($configuration, $database)
        : new Connection($configuration, $database);
    $serializer = new Serializer([new ObjectNormalizer()], [new JsonEncoder()]);
    $transport = new DoctrineTransport($connection, new MessengerSerializer($serializer));

    $report = new Report();
    $report->title = $options['title'];
    $taskId = uuid4();
    $records->save($taskId, $serializer->serialize($report, 'json'));
    $transport->send(new Envelope(new AsyncTaskMessage($taskId, $report, Report::class)));
    echo json_encode($taskId), "\n";
} else {
    echo json_encode($records->load($options['taskId'])), "\n";
}

}
