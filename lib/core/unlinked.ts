/**
 * Breaks text that mail programs would turn into links, so that names and texts chosen by users
 * cannot link to other sites.
 */

/**
 * WORD JOINER (U+2060), an invisible character. Programs that look for web addresses treat it as
 * the end of an address.
 */
const JOINER = "\u2060";

/**
 * A dot between characters of a domain, as in `evil.com`. The point of an amount is followed by a
 * digit and does not match.
 */
const DOT = /(?<=[\p{L}\p{N}])\.(?=\p{L})/gu;
const SCHEME = /:(?=\/\/)/g;

const broken = (text: string): string =>
  text.replace(DOT, `.${JOINER}`).replace(SCHEME, `:${JOINER}`);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/**
 * The text of a mail in which only addresses of this service are links.
 * @param ownUrl origin of the service; an address belongs to the service only if its scheme, host
 * and port are those of `ownUrl`
 * @example unlinked("Pay evil.com at https://pay.example.com/inbox", "https://pay.example.com"); //
 * "evil.\u2060com", and the service's link unchanged
 */
export const unlinked = (text: string, ownUrl: string): string => {
  const own = new RegExp(
    `(${escaped(ownUrl.replace(/\/+$/, ""))}(?:[/?#][^\\s"'<>]*|(?=[\\s"')>,;]|[.:]?(?:\\s|$))))`,
    "g",
  );
  // `split` by a pattern with one group puts the service's addresses at odd indices.
  return text
    .split(own)
    .map((part, index) => (index % 2 === 1 ? part : broken(part)))
    .join("");
};
