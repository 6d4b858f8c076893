/** Writes XML 1.0 text. */

/** Text from `xmlElement` or `xmlText`. Other text must be escaped first. */
export type XmlText = string & { readonly [xmlText]: true };
declare const xmlText: unique symbol;

// Characters that XML 1.0 (section 2.2) does not allow, not even as references. They include halves
// of surrogate pairs.
const NOT_ALLOWED = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

const escaped = (value: string): string =>
  value
    .replaceAll(NOT_ALLOWED, "\u{FFFD}")
    .replaceAll(/[&<>"\t\n\r]/g, (sign) => ESCAPES[sign] ?? sign);

/** The declaration before the root element. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n' as XmlText;

/** The begin tag of an element whose content is written later. @see closeTag */
export const openTag = (
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): XmlText =>
  `<${name}${Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(value)}"`)
    .join("")}>` as XmlText;

/** The end tag of an element. */
export const closeTag = (name: string): XmlText => `</${name}>` as XmlText;

/**
 * An element with text or with other elements. Null children are left out. Characters that XML does
 * not allow become U+FFFD.
 * @example xmlElement("Amt", { Ccy: "USD" }, "12.5") // <Amt Ccy="USD">12.5</Amt>
 */
export const xmlElement = (
  name: string,
  attributes: Readonly<Record<string, string>>,
  content: string | readonly (XmlText | null)[],
): XmlText => {
  const inner = typeof content === "string" ? escaped(content) : content.join("");
  return `${openTag(name, attributes)}${inner}${closeTag(name)}` as XmlText;
};

/** Joins texts into one. */
export const joinXml = (parts: readonly XmlText[]): XmlText => parts.join("") as XmlText;
