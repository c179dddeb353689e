// Modules of web/ in node. They have no package.json that would say they are modules: what is below
// web/ becomes part of the program.

import { readFileSync } from 'node:fs';

/** A module that imports no other one. */
export function webModule(name) {
  const source = readFileSync(new URL(`../../web/${name}`, import.meta.url), 'utf8');
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
}
