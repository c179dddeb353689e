<?php
// Symfony Messenger, with its own transports, serializer and worker, without a framework.
// symfony.php postgres|redis TASKS TRIPS SECONDS
declare(strict_types=1);

require '/usr/share/php/Symfony/Component/Messenger/autoload.php';
require '/usr/share/php/Symfony/Component/EventDispatcher/autoload.php';

use Doctrine\DBAL\DriverManager;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransport;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\PostgreSqlConnection;
use Symfony\Component\Messenger\Bridge\Redis\Transport\Connection as RedisConnection;
use Symfony\Component\Messenger\Bridge\Redis\Transport\RedisTransport;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerMessageHandledEvent;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\HandleMessageMiddleware;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Messenger\Worker;

final class Order
{
    public function __construct(public string $to, public string $subject, public string $body)
    {
    }
}

[, $server, $tasks, , $seconds] = $argv;
$tasks = (int) $tasks;

if ('postgres' === $server) {
    require '/usr/share/php/Symfony/Component/Messenger/Bridge/Doctrine/autoload.php';
    require '/usr/share/php/Doctrine/DBAL/autoload.php';
    $database = DriverManager::getConnection([
        'driver' => 'pdo_pgsql',
        'host' => getenv('PGHOST'),
        'user' => getenv('PGUSER'),
        'dbname' => getenv('PGDATABASE'),
    ]);
    $connection = new PostgreSqlConnection(
        ['table_name' => 'messenger_messages', 'use_notify' => false], $database);
    $transport = new DoctrineTransport($connection, new PhpSerializer());
    $transport->setup();
    $clear = fn () => $database->executeStatement('TRUNCATE messenger_messages');
    // To fill the queue is not measured: one transaction instead of thousands.
    // Then statistics, as autovacuum would give them to a table that fills slowly: without them the
    // plan, and with it the rate, is a matter of luck.
    $fill = function (callable $sends) use ($database) {
        $database->transactional($sends);
        $database->executeStatement('VACUUM ANALYZE messenger_messages');
    };
    $left = fn () => $transport->getMessageCount();
} else {
    require '/usr/share/php/Symfony/Component/Messenger/Bridge/Redis/autoload.php';
    $redis = new Redis();
    $redis->connect(getenv('REDIS_SOCKET'));
    $redis->select((int) getenv('REDIS_DATABASE'));
    $clear = fn () => $redis->flushDB();
    $clear();
    $connection = new RedisConnection(
        ['stream' => 'bench', 'group' => 'bench', 'consumer' => 'bench', 'delete_after_ack' => true,
         'serializer' => Redis::SERIALIZER_NONE],
        ['host' => getenv('REDIS_SOCKET'), 'port' => 0],
        [],
        $redis);
    $transport = new RedisTransport($connection, new PhpSerializer());
    $transport->setup();
    $fill = fn (callable $sends) => $sends();
    $left = fn () => $redis->xLen('bench');
}

// 200 bytes of JSON, as a message class.
$order = new Order('somebody@example.com', 'Your order', '');
$order->body = str_repeat('x', 200 - strlen(json_encode($order)));
$send = function (int $count) use ($transport, $order) {
    for ($i = 0; $i < $count; ++$i) {
        $transport->send(new Envelope($order));
    }
};
$elapsed = fn (int $began) => (hrtime(true) - $began) / 1e9;

$alone = max(intdiv($tasks, 10), 100);
$send(1);
$began = hrtime(true);
$send($alone);
$figures = ['submit_seq' => $alone / $elapsed($began)];

$bus = new MessageBus([new HandleMessageMiddleware(
    new HandlersLocator([Order::class => [static fn (Order $order) => $order->to]]))]);
// All that waits, by a worker in this process, or as much as it does in these seconds; returns how many
// and the rate.
$drain = function (int $count) use ($transport, $bus, $elapsed, $seconds): array {
    $handled = 0;
    $began = hrtime(true);
    $dispatcher = new EventDispatcher();
    $dispatcher->addListener(WorkerMessageHandledEvent::class,
        function () use (&$handled) { ++$handled; });
    $dispatcher->addListener(WorkerRunningEvent::class,
        function (WorkerRunningEvent $event) use (&$handled, $count, $began, $elapsed, $seconds) {
            if ($handled >= $count || $elapsed($began) >= (float) $seconds) {
                $event->getWorker()->stop();
            }
        });
    (new Worker(['bench' => $transport], $bus, $dispatcher))->run(['sleep' => 0]);

    return [$handled, $handled / $elapsed($began)];
};

// As `errand bench` does: what was submitted before warms up what drains.
$fill(fn () => null);
$drain(1 + $alone);
$clear();
if ('redis' === $server) {
    $transport->setup();
}
$fill(fn () => $send($tasks));
[$handled, $figures['drain']] = $drain($tasks);
if ($handled >= $tasks && 0 !== $uncompleted = $left()) {
    fwrite(STDERR, "$uncompleted messages were left after the drain\n");
    exit(1);
}
$clear();
echo json_encode($figures), "\n";
