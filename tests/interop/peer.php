<?php

// A Symfony application in one file: php peer.php COMMAND OPTIONS-AS-JSON. Prints what it handled or
// found, a JSON value a line. Needs Debian's packages of Symfony Messenger, Doctrine DBAL and php-redis.

namespace App\Message {
    class Sms
    {
        public string $to = '';
        public int $n = 0;
    }
}

namespace {

use App\Message\Sms;
use Doctrine\DBAL\DriverManager;
use Psr\Container\ContainerInterface;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\Connection;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransport;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\PostgreSqlConnection;
use Symfony\Component\Messenger\Bridge\Redis\Transport\Connection as RedisConnection;
use Symfony\Component\Messenger\Bridge\Redis\Transport\RedisTransport;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\EventListener\AddErrorDetailsStampListener;
use Symfony\Component\Messenger\EventListener\SendFailedMessageForRetryListener;
use Symfony\Component\Messenger\EventListener\SendFailedMessageToFailureTransportListener;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Retry\MultiplierRetryStrategy;
use Symfony\Component\Messenger\Stamp\BusNameStamp;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\ErrorDetailsStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Messenger\Transport\Serialization\Serializer as MessengerSerializer;
use Symfony\Component\Messenger\Transport\TransportInterface;
use Symfony\Component\Messenger\Worker;
use Symfony\Component\PropertyInfo\Extractor\PhpDocExtractor;
use Symfony\Component\PropertyInfo\Extractor\ReflectionExtractor;
use Symfony\Component\Serializer\Encoder\JsonEncoder;
use Symfony\Component\Serializer\Normalizer\ArrayDenormalizer;
use Symfony\Component\Serializer\Normalizer\DateTimeNormalizer;
use Symfony\Component\Serializer\Normalizer\ObjectNormalizer;
use Symfony\Component\Serializer\Serializer;

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
// Before version 6.3 Symfony stores local time.
date_default_timezone_set('UTC');

foreach (['Messenger', 'Messenger/Bridge/Doctrine', 'Messenger/Bridge/Redis', 'Serializer', 'PropertyAccess', 'PropertyInfo',
          'EventDispatcher'] as $component) {
    require "Symfony/Component/$component/autoload.php";
}
require 'Doctrine/DBAL/autoload.php';

final class Services implements ContainerInterface
{
    public function __construct(private array $services) {}
    public function get(string $id) { return $this->services[$id]; }
    public function has(string $id): bool { return isset($this->services[$id]); }
}

function say($value): void
{
    echo json_encode($value), "\n";
}

$command = $argv[1];
$options = json_decode($argv[2], true, 512, \JSON_THROW_ON_ERROR) + ['serializer' => 'json'];

$serializer = 'php' === $options['serializer']
    ? new PhpSerializer()
    : new MessengerSerializer(new Serializer(
        [new DateTimeNormalizer(), new ArrayDenormalizer(),
         new ObjectNormalizer(null, null, null, new ReflectionExtractor())],
        [new JsonEncoder()]
    ));
$where = $options['connection'];
$dbal = 'redis' === $where['driver'] ? null : DriverManager::getConnection($where);
$transport = function (string $queue) use ($where, $dbal, $serializer, $options): TransportInterface {
    if (null === $dbal) {
        $configuration = ($options['configuration'] ?? [])
            + ['delete_after_ack' => true, 'dbindex' => $where['database']];
        $dsn = "redis://{$where['host']}:{$where['port']}/$queue/symfony/php-".getmypid();

        return new RedisTransport(RedisConnection::fromDsn($dsn, $configuration), $serializer);
    }
    $configuration = ['queue_name' => $queue] + ($options['configuration'] ?? []) + [
        'table_name' => 'messenger_messages', 'redeliver_timeout' => 3600, 'auto_setup' => true,
        'check_delayed_interval' => 0, 'get_notify_timeout' => 0, 'use_notify' => true];
    $connection = 'pdo_pgsql' === $where['driver']
        ? new PostgreSqlConnection($configuration, $dbal)
        : new Connection($configuration, $dbal);

    return new DoctrineTransport($connection, $serializer);
};
// As messenger:failed:show gets at them. Symfony has that for Redis from version 8.1.
$all = function (string $queue) use ($where, $dbal, $serializer, $transport): iterable {
    if (null !== $dbal) {
        return $transport($queue)->all();
    }
    $redis = new \Redis();
    $redis->connect($where['host'], $where['port']);
    $redis->select($where['database']);

    return array_map(
        fn (array $entry) => $serializer->decode(json_decode($entry['message'], true)),
        $redis->xRange($queue, '-', '+'));
};
$queue = $options['queue'] ?? 'async';

switch ($command) {
    case 'dispatch':
        $sender = $transport($queue);
        for ($n = 1; $n <= ($options['count'] ?? 1); ++$n) {
            $sms = new Sms();
            $sms->to = '+49 "é" 发票';
            $sms->n = $n;
            $stamps = [new BusNameStamp('messenger.bus.default')];
            if (isset($options['delay'])) {
                $stamps[] = new DelayStamp($options['delay']);
            }
            $sender->send(new Envelope($sms, $stamps));
        }
        break;

    case 'consume':
        // Handles what is due, then ends.
        $bus = new MessageBus([new HandleMessageMiddleware(new HandlersLocator([
            Sms::class => [function (Sms $sms) use ($options) {
                if ($options['fail'] ?? false) {
                    throw new \RuntimeException('PHP says no', 5);
                }
                say(['to' => $sms->to, 'n' => $sms->n]);
            }],
        ]))]);
        $receivers = [$queue => $transport($queue)];
        $failed = $transport('failed');
        $dispatcher = new EventDispatcher();
        $dispatcher->addSubscriber(new AddErrorDetailsStampListener());
        $dispatcher->addSubscriber(new SendFailedMessageForRetryListener(
            new Services($receivers),
            new Services([$queue => new MultiplierRetryStrategy($options['retries'] ?? 0, 0)])));
        $dispatcher->addSubscriber(new SendFailedMessageToFailureTransportListener(
            new Services([$queue => $failed])));
        $handled = 0;
        $dispatcher->addListener(WorkerRunningEvent::class,
            function (WorkerRunningEvent $event) use (&$handled, $options) {
                $limit = $options['limit'] ?? 0;
                if ($event->isWorkerIdle() || ($limit > 0 && ++$handled >= $limit)) {
                    $event->getWorker()->stop();
                }
            });
        (new Worker($receivers, $bus, $dispatcher))->run(['sleep' => 0]);
        break;

    case 'list':
        foreach ($all($queue) as $envelope) {
            $error = $envelope->last(ErrorDetailsStamp::class);
            $redelivery = $envelope->last(RedeliveryStamp::class);
            say(['class' => get_class($envelope->getMessage()),
                 'n' => $envelope->getMessage()->n,
                 'from' => $envelope->last(SentToFailureTransportStamp::class)
                     ?->getOriginalReceiverName(),
                 'error' => $error?->getExceptionMessage(),
                 'errorClass' => $error?->getExceptionClass(),
                 'retryCount' => $redelivery?->getRetryCount(),
                 'retries' => count($envelope->all(RedeliveryStamp::class))]);
        }
        break;
}

}
