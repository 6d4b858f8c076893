/**
 * Names chosen by people and programs. Others see them when they decide: in dialogs, approvals,
 * lists and mails.
 */
import { z } from "zod";

/**
 * Control characters, line separators, and characters that are invisible or change the direction of
 * writing. Joiners are allowed, because words and emoji contain them.
 */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/u;

/**
 * Parts of a web address that a mail program turns into a link, or that mislead a reader. Tested
 * after NFKC, which also converts full-width forms.
 */
const LINKS: readonly RegExp[] = [
  /:\/\//,
  // A scheme followed by a target.
  /(?:^|[^\p{L}\p{N}])(?:https?|ftps?|wss?|file|mailto|javascript|data|tel|sms):\S/iu,
  /(?:^|[^\p{L}\p{N}])www\.\S/iu,
  // A path, query or fragment after a domain or an IPv4 address.
  /[\p{L}\p{N}]\.\p{L}[\p{L}\p{N}-]+\.?(?::\d+)?[/\\?#]/u,
  /\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?[/\\?#]/,
];

export const hasHidden = (text: string): boolean => HIDDEN.test(text);

/**
 * Whether a text contains a scheme, a path or `www.`. A bare domain such as "Booking.com" is
 * allowed as a name.
 */
export const hasLink = (text: string): boolean => {
  const plain = text.normalize("NFKC");
  return LINKS.some((pattern) => pattern.test(plain));
};

/**
 * A name of 1 to `max` characters, without surrounding spaces, control or direction characters, and
 * web addresses. @example
 * displayName(80).parse(" Booking.com Ltd "); // "Booking.com Ltd"
 */
export const displayName = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(
      (text) => !hasHidden(text),
      "must have no control characters and none that are invisible or turn the writing",
    )
    .refine(
      (text) => !hasLink(text),
      "must hold no web address: no https://, no www. and no path behind a domain",
    );

/** A display name of a person. Without "@", so that it cannot be mistaken for an e-mail address. */
export const personName = displayName(80).refine(
  (text) => !text.normalize("NFKC").includes("@"),
  "must not contain @",
);
