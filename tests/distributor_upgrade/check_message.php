<?php

// A Symfony application that asks for checks: php check_message.php OPTIONS-AS-JSON. Sends
// DistributorUpgradeCheckMessage(distributorId, triggeringWithdrawLedgerId), or a class of another
// name, over the message bus, the JSON serializer and the Doctrine transport, inside a transaction
// of its own. Needs Debian's packages of Symfony
// Messenger and Doctrine DBAL.

namespace App\Message {
    final class DistributorUpgradeCheckMessage
    {
        public function __construct(
            public readonly int $distributorId,
            public readonly ?int $triggeringWithdrawLedgerId = null,
        ) {}
    }
}

namespace Shop {
    final class Check
    {
        public function __construct(
            public readonly int $distributorId,
            public readonly ?int $triggeringWithdrawLedgerId = null,
        ) {}
    }
}

namespace {

use App\Message\DistributorUpgradeCheckMessage;
use Doctrine\DBAL\DriverManager;
use Psr\Container\ContainerInterface;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\Connection;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransport;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\PostgreSqlConnection;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware\AddBusNameStampMiddleware;
use Symfony\Component\Messenger\Middleware\SendMessageMiddleware;
use Symfony\Component\Messenger\Transport\Sender\SendersLocator;
use Symfony\Component\Messenger\Transport\Serialization\Serializer as MessengerSerializer;
use Symfony\Component\Serializer\Encoder\JsonEncoder;
use Symfony\Component\Serializer\Normalizer\ObjectNormalizer;
use Symfony\Component\Serializer\Serializer;

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
// Before version 6.3 Symfony stores local time.
date_default_timezone_set('UTC');

foreach (['Messenger', 'Messenger/Bridge/Doctrine', 'Serializer', 'PropertyAccess',
          'PropertyInfo'] as $component) {
    require "Symfony/Component/$component/autoload.php";
}
require 'Doctrine/DBAL/autoload.php';

$options = json_decode($argv[1], true, 512, \JSON_THROW_ON_ERROR);
$dbal = DriverManager::getConnection($options['connection']);
$configuration = ['queue_name' => 'async_messages', 'table_name' => 'messenger_messages',
    'redeliver_timeout' => 3600, 'auto_setup' => false, 'check_delayed_interval' => 0,
    'get_notify_timeout' => 0, 'use_notify' => true];
$connection = 'pdo_pgsql' === $options['connection']['driver']
    ? new PostgreSqlConnection($configuration, $dbal)
    : new Connection($configuration, $dbal);
$transport = new DoctrineTransport($connection, new MessengerSerializer(
    new Serializer([new ObjectNormalizer()], [new JsonEncoder()])));

$services = new class($transport) implements ContainerInterface {
    public function __construct(private readonly object $async) {}
    public function get(string $id): object { return $this->async; }
    public function has(string $id): bool { return 'async' === $id; }
};
$class = $options['message'] ?? DistributorUpgradeCheckMessage::class;
$bus = new MessageBus([
    new AddBusNameStampMiddleware('messenger.bus.default'),
    new SendMessageMiddleware(new SendersLocator([$class => ['async']], $services)),
]);

// What a listener of the withdrawal's entity does: the state and the message commit together.
$dbal->transactional(function () use ($dbal, $bus, $class, $options) {
    $dbal->executeStatement(
        "UPDATE withdraw_ledger SET status = 'completed', completed_at = ? WHERE id = ?",
        [gmdate('Y-m-d H:i:s').'.000000', $options['withdrawal']]);
    $bus->dispatch(new $class($options['distributor'], $options['withdrawal']));
    if ($options['fail'] ?? false) {
        throw new \RuntimeException('after the message');
    }
});

}
