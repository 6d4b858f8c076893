/* global module */
/**
 * A loader of Turbopack, named in next.config.mjs. Removes the texts of the OpenAPI document from a
 * file of contracts in the bundles of the browser, which uses contracts only to build requests and
 * to parse responses.
 */
const TEXT =
  /\b(?:description|summary):\s*(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`$]*`)\s*(?:,|(?=\}))/g;

module.exports = function takeTextsOut(source) {
  return source.replace(TEXT, "");
};
