/* global module */
/**
 * Takes the texts of the OpenAPI document out of a file of contracts, for the bundles of the
 * browser: there contracts only build and parse requests. A loader of Turbopack, named in
 * next.config.mjs.
 */
const TEXT =
  /\b(?:description|summary):\s*(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`$]*`)\s*(?:,|(?=\}))/g;

module.exports = function takeTextsOut(source) {
  return source.replace(TEXT, "");
};
