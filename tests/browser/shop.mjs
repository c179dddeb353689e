// A shop's background work, for screenshots: several types and queues, failures, things under way.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Program, quoted } from './program.mjs';

const HANDLER = `#!/bin/sh
# $1: what it does at most, in milliseconds; $2: how many of 100 fail; $3: with these words
read -r payload
random=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
sleep "$(awk "BEGIN { print ($random % $1) / 1000 }")"
if [ $((random / 1000 % 100)) -lt "$2" ]; then echo "$3" >&2; exit 1; fi
echo '{"ok":true,"bytes":'$((random % 90000))',"parts":[{"name":"body","size":'$((random % 700))'}]}'
`;

const TYPES = [
  { type: 'email.send', queue: 'mail', weight: 10, most: 90, fails: 3, words: '451 4.7.1 mail.example.com: greylisted, try again later', payload: (n) => ({ to: `customer-${n}@example.com`, template: 'order-shipped', locale: n % 3 ? 'en' : 'zh-CN', order: 40_000 + n }) },
  { type: 'webhook.deliver', queue: 'default', weight: 6, most: 300, fails: 6, words: 'POST https://hooks.example.org/orders: 503 Service Unavailable', payload: (n) => ({ event: 'order.updated', order: 40_000 + n, url: 'https://hooks.example.org/orders' }) },
  { type: 'image.resize', queue: 'media', weight: 4, most: 500, fails: 1, words: 'cannot read the picture: unexpected end of file', payload: (n) => ({ source: `products/${n}.jpg`, widths: [320, 640, 1280] }) },
  { type: 'search.index', queue: 'default', weight: 5, most: 60, fails: 0, words: '', payload: (n) => ({ product: 900 + (n % 400) }) },
  { type: 'invoice.render', queue: 'reports', weight: 2, most: 900, fails: 0, words: '', payload: (n) => ({ invoice: `2026-${String(n).padStart(6, '0')}`, format: 'pdf' }) },
];

const PAYMENT_ERROR = {
  class: 'Shop\\Payment\\GatewayTimeout',
  message: 'The gateway did not answer within 10 s (charge ch_3NqK81 of order 40412)',
  code: 504,
  file: 'src/Payment/StripeGateway.php',
  line: 118,
  trace: [
    '#0 src/Payment/StripeGateway.php(118): Shop\\Payment\\HttpClient->post()',
    '#1 src/Payment/ChargeHandler.php(57): Shop\\Payment\\StripeGateway->charge()',
    '#2 vendor/symfony/messenger/Middleware/HandleMessageMiddleware.php(152): Shop\\Payment\\ChargeHandler->__invoke()',
    '#3 vendor/symfony/messenger/Middleware/SendMessageMiddleware.php(76): HandleMessageMiddleware->handle()',
    '#4 vendor/symfony/messenger/Worker.php(162): MessageBus->dispatch()',
  ].join('\n'),
  previous: {
    class: 'Symfony\\Component\\HttpClient\\Exception\\TimeoutException',
    message: 'Idle timeout reached for "https://api.stripe.com/v1/charges"',
    code: 0,
    file: 'vendor/symfony/http-client/Chunk/ErrorChunk.php',
    line: 61,
    trace: '#0 vendor/symfony/http-client/Response/CommonResponseTrait.php(55): ErrorChunk->getContent()\n#1 src/Payment/HttpClient.php(40): CommonResponseTrait->toArray()',
    previous: null,
  },
};

export async function openShop() {
  const shop = new Program();
  writeFileSync(join(shop.directory, 'handler.sh'), HANDLER);
  chmodSync(join(shop.directory, 'handler.sh'), 0o755);
  await shop.serve();
  const handlers = TYPES.flatMap(({ type, most, fails, words }) => ['--exec', `${type}=./handler.sh ${most} ${fails} '${words}'`]);
  await shop.worker('--queue', 'mail,default', '--concurrency', '4', ...handlers);
  await shop.worker('--queue', 'media,reports', '--concurrency', '3', ...handlers, '--exec', 'video.transcode=sleep 3600');
  await shop.submit('video.transcode', { source: 'launch-event.mov', profile: 'h264-1080p' }, { queue: 'media' });
  return shop;
}

/** Submits with ups and downs until `stopped()`; resolves when the last were submitted. */
export async function runShop(shop, stopped) {
  const bag = TYPES.flatMap((type) => Array(type.weight).fill(type));
  const began = Date.now();
  let n = 0;
  for (let round = 0; !stopped(); round += 1) {
    const seconds = (Date.now() - began) / 1000;
    const wave = 1 + 0.75 * Math.sin(seconds / 23) + 0.3 * Math.sin(seconds / 5);
    const tasks = Array.from({ length: Math.max(1, Math.round(3 * wave)) }, () => {
      const { type, queue, payload } = bag[(n * 7 + 3) % bag.length];
      n += 1;
      return { type, queue, payload: payload(n), maxRetries: n % 4 ? 2 : 0, retryDelay: '400ms', retryMultiplier: 2 };
    });
    await shop.submitMany(tasks);
    await new Promise((done) => { setTimeout(done, 330); });
  }
}

/** What takes long to come about by itself. Returns the id of a task worth looking at. */
export async function addIncidents(shop) {
  await shop.ask('POST', '/api/queues/reports/pause');
  await shop.submitMany(Array.from({ length: 42 }, (_, n) => ({ type: 'report.monthly', queue: 'reports', payload: { month: `2026-${1 + (n % 9)}`, region: n } })));
  await shop.submitMany(Array.from({ length: 17 }, (_, n) => ({ type: 'newsletter.send', queue: 'mail', delay: '6h', payload: { segment: n } })));
  const ids = await shop.submitMany(Array.from({ length: 9 }, (_, n) => ({
    type: 'payment.charge', queue: 'payments', maxRetries: 2,
    payload: { order: 40_412 + n, customer: { id: 91_207_345_512_345_678 + n, name: '李小龙', email: 'li@example.com' }, amount: { currency: 'EUR', cents: 12_990 }, items: [{ sku: 'KB-101', quantity: 1 }, { sku: 'MX-330', quantity: 2 }], idempotent: true },
    headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  })));
  ids.forEach((id, n) => {
    const error = { ...PAYMENT_ERROR, message: PAYMENT_ERROR.message.replace('40412', String(40_412 + n)) };
    const moment = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
    const history = [1, 2, 3].map((attempt) => ({ attempt, at: moment(60 - attempt * 14 + n), worker: 'web-2:4117:9c01ab52', error: attempt < 3 ? { ...PAYMENT_ERROR.previous } : error }));
    const sql = (iso) => quoted(`${iso.replace('T', ' ').replace('Z', '')}000`);
    shop.sql(`update async_tasks set status = 'failed', attempts = 3, version = version + 6, submitted_at = ${sql(moment(62 + n))}, started_at = ${sql(moment(28 + n))},
      completed_at = ${sql(moment(18 + n))}, error = ${quoted(JSON.stringify(error))}, history = ${quoted(JSON.stringify(history))} where task_id = ${quoted(id)};`);
  });
  return ids[0];
}
