// Texts that try to become script, to reorder or widen what stands beside them, or to break a reader.

const SCRIPT = 'window.pwned=1;document.title=`pwned`';

const MARKUP = [
  `<script>${SCRIPT}</script>`,
  `</script><script>${SCRIPT}</script>`,
  `<img src=x onerror="${SCRIPT}">`,
  `"><svg onload="${SCRIPT}">`,
  `'><body onload='${SCRIPT}'>`,
  `<iframe srcdoc="<script>parent.${SCRIPT}</script>"></iframe>`,
  `<a href="javascript:${SCRIPT}">click</a>`,
  `javascript:${SCRIPT}`,
  `data:text/html,<script>${SCRIPT}</script>`,
  `<details open ontoggle="${SCRIPT}">`,
  `<input autofocus onfocus="${SCRIPT}">`,
  `<video><source onerror="${SCRIPT}"></video>`,
  `<math><mtext></table><mglyph><style><!--</style><img src onerror="${SCRIPT}">`,
  `<style>*{background:url(javascript:${SCRIPT})}</style>`,
  `<link rel=stylesheet href="data:text/css,*{width:9999px}">`,
  `<meta http-equiv=refresh content="0;url=javascript:${SCRIPT}">`,
  `<form action="javascript:${SCRIPT}"><button>`,
  `<object data="javascript:${SCRIPT}">`,
  `<base href="https://example.com/">`,
  `<template><script>${SCRIPT}</script></template>`,
  `{{constructor.constructor('${SCRIPT}')()}}`,
  '${' + SCRIPT + '}',
  `<%= ${SCRIPT} %>`,
  `]]><script>${SCRIPT}</script>`,
  `--><script>${SCRIPT}</script>`,
  `\\"-${SCRIPT}//`,
  `'-${SCRIPT}-'`,
  `;${SCRIPT};`,
  '<plaintext>',
  '<textarea><title></textarea>',
  '<xmp><noscript>',
  '<table><td style="position:fixed;inset:0">',
];

const SHAPES = [
  'x'.repeat(20_000),
  'W'.repeat(190),
  `${'word '.repeat(4000)}`,
  '\n'.repeat(500),
  `${'\t'.repeat(300)}tab`,
  'a\u0300\u0301\u0302\u0303'.repeat(300),
  `H${'\u0334\u0335\u0336'.repeat(200)}e`,
  '\u202egnp.exe',
  '\u2066\u2067\u202e\u202d\u2069',
  'مرحبا بالعالم '.repeat(100),
  'שלום abc 123 עולם',
  '\u200f\u200f\u200f/etc/passwd',
  '\u0000\u0001\u0002\u001b[31mred\u001b[0m',
  '\ufeff\ufffe\uffff',
  '\ud800 alone',
  '👩‍👩‍👧‍👦'.repeat(200),
  '𒐫'.repeat(100),
  '﷽'.repeat(50),
  '漢字'.repeat(5000),
  'ｆｕｌｌｗｉｄｔｈ'.repeat(100),
  'a\u200bb\u200c\u200dc\u2060'.repeat(200),
  '\u2028\u2029line ends',
  '%00%0d%0aSet-Cookie:%20a=b',
  '../../../etc/passwd',
  '?status=failed&type=x#fragment',
  '__proto__',
  'constructor',
  'toString',
  'null',
  '-9'.repeat(100),
  '[['.repeat(2000),
  '{"a":'.repeat(2000),
];

/** `count` different ones: each of the above, then each with the others before and behind it. */
export function hostileTexts(count) {
  const all = [...MARKUP, ...SHAPES];
  const texts = [...all];
  for (let n = 1; texts.length < count; n += 1) {
    const one = all[n % all.length];
    const other = all[(n * 7 + 13) % all.length].slice(0, 3000);
    texts.push(n % 3 === 0 ? `${other}${one} ${n}` : n % 3 === 1 ? `${n}${one}${one}` : `${one}\n${n} ${other}`);
  }
  // SQL text cannot hold zero bytes, nor halves of characters.
  return texts.map((text) => text.replaceAll('\u0000', '').toWellFormed?.() ?? text.replaceAll('\u0000', '').replaceAll('\ud800', '\ufffd'));
}
