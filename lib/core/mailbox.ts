/**
 * Finds one canonical form for all spellings of an e-mail address that reach the same mailbox,
 * because a person is identified by one mailbox.
 */
import { parseUrl } from "./redaction";

interface Provider {
  /**
   * Domains that share mailboxes: addresses with equal local parts reach one mailbox. The first
   * domain is the canonical one.
   */
  readonly domains: readonly [string, ...string[]];
  readonly plain: (local: string) => string;
}

/**
 * Large providers that deliver several spellings to one mailbox, beyond differences in case and
 * plus tags.
 */
const PROVIDERS: readonly Provider[] = [
  { domains: ["gmail.com", "googlemail.com"], plain: (local) => local.replaceAll(".", "") },
  {
    domains: ["proton.me", "protonmail.com", "protonmail.ch", "pm.me"],
    plain: (local) => local.replace(/[._-]/g, ""),
  },
  { domains: ["icloud.com", "me.com", "mac.com"], plain: (local) => local },
  {
    domains: ["yandex.ru", "yandex.com", "yandex.by", "yandex.kz", "yandex.ua", "ya.ru"],
    plain: (local) => local.replaceAll(".", "-"),
  },
];

const BY_DOMAIN: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.flatMap((provider) =>
    provider.domains.map((domain) => [domain, provider] as const),
  ),
);

/** The domain in lower case and ASCII (UTS 46), without a trailing dot. */
const plainDomain = (domain: string): string => {
  const written = domain.replace(/\.+$/, "");
  const ascii = parseUrl(`http://${written}`)?.hostname;
  return ascii === undefined || ascii === "" ? written : ascii;
};

/**
 * The mailbox of an address: lower case, NFKC, an ASCII domain, no tag after a plus, and no dots if
 * the provider ignores them. Two addresses of one mailbox have equal results. Mail is sent to the
 * address as it was typed, never to this form.
 * @example mailboxOf("Ada.Lovelace+votes@GoogleMail.com"); // "adalovelace@gmail.com"
 */
export const mailboxOf = (email: string): string => {
  const address = email.normalize("NFKC").trim().toLowerCase();
  const at = address.lastIndexOf("@");
  const domain = plainDomain(address.slice(at + 1));
  const provider = BY_DOMAIN.get(domain);
  const [local = ""] = address.slice(0, Math.max(at, 0)).split("+");
  return provider === undefined
    ? `${local}@${domain}`
    : `${provider.plain(local)}@${provider.domains[0]}`;
};

/** Whether mail to both addresses arrives in one mailbox. */
export const isSameMailbox = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && mailboxOf(one) === mailboxOf(other);

/** Keeps the first address of each mailbox. */
export const oncePerMailbox = (emails: readonly string[]): string[] => {
  const found = new Map<string, string>();
  for (const email of emails) {
    const mailbox = mailboxOf(email);
    if (!found.has(mailbox)) found.set(mailbox, email);
  }
  return [...found.values()];
};
