import { secondsUntil } from "@/lib/core/clock";
import { responsibleUserId, type Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { addTo, countUnderLock, removeFrom, type Counted } from "./repository";

/** Events per hour that are allowed. */
export const CODE_LIMITS = {
  /** Codes that one person asked for. */
  person: 60,
  /** Codes that one API key asked for. */
  apiKey: 30,
  /** Codes that all API keys of one person asked for: they are mailed to that person and do not count as the person's own codes. */
  apiKeysOfPerson: 60,
  /** Codes to an address that nobody has verified for the account that asks, over all accounts: the address may be a stranger's. */
  unverifiedDestination: 5,
  /** Codes to unverified addresses that one client network asked for. */
  networkUnverified: 60,
  /** Codes to verified addresses that one client network asked for; an office shares one. */
  networkVerified: 600,
  /** Wrong guesses of one person or API key, over everything that codes approve. */
  wrongGuesses: 20,
} as const;

const HOUR_MS = 3_600_000;
/** Mail systems that ignore dots in the local part. */
const DOTLESS_DOMAINS = new Set(["gmail.com", "googlemail.com"]);

export interface CodeToMail {
  readonly id: string;
  readonly at: Date;
  /** Who asked for it. */
  readonly actor: Actor;
  readonly email: string;
  /** Whether the person who asks, or who made the API key that asks, has verified this address. */
  readonly verified: boolean;
}

export interface CodeLimits {
  /**
   * Counts a code that is about to be mailed, in the transaction that stores it.
   * @throws DomainError `rate_limited`, which has to undo that transaction
   */
  countCode(tx: Tx, code: CodeToMail): Promise<void>;
  /** Removes the counts of a code that could not be mailed, except the count of the client's network. */
  withdraw(tx: Tx, code: CodeToMail): Promise<void>;
  /**
   * Makes all guesses of one guesser follow each other until the transaction ends.
   * @returns when the guesser may guess again; null: now
   */
  lockGuesses(tx: Tx, guesser: string, now: Date): Promise<Date | null>;
  /** Counts a wrong guess. Call it under `lockGuesses`. */
  countWrongGuess(tx: Tx, guesser: string, guess: { id: string; at: Date }): Promise<void>;
}

interface Bucket {
  readonly name: string;
  readonly max: number;
  readonly message: string;
  /** Whether a code that could not be mailed still counts. */
  readonly countsAttempts: boolean;
}

const LATER = "within an hour. Nothing was sent; try again later.";

/** The mailbox of an address: tags after a plus are removed, and dots for mail systems that ignore them. */
export const mailboxOf = (email: string): string => {
  const lower = email.toLowerCase();
  const at = lower.lastIndexOf("@");
  const domain = lower.slice(at + 1);
  const [local = ""] = lower.slice(0, at).split("+");
  return `${DOTLESS_DOMAINS.has(domain) ? local.replaceAll(".", "") : local}@${domain}`;
};

const bucketsOfRequester = (actor: Actor): Bucket[] => {
  const personId = responsibleUserId(actor);
  if (actor.type === "user") {
    const message = `Too many codes were sent to you ${LATER}`;
    return [{ name: `person:${personId}`, max: CODE_LIMITS.person, message, countsAttempts: false }];
  }
  const { apiKey, apiKeysOfPerson } = CODE_LIMITS;
  const byKey = `This API key asked for too many codes ${LATER}`;
  const byKeys = `API keys asked for too many codes for the person who made them ${LATER}`;
  return [
    { name: `key:${actor.keyId}`, max: apiKey, message: byKey, countsAttempts: false },
    { name: `keys-of:${personId}`, max: apiKeysOfPerson, message: byKeys, countsAttempts: false },
  ];
};

const bucketsOfNetwork = (network: string | null, verified: boolean): Bucket[] => {
  if (network === null) return [];
  const name = `${verified ? "network" : "network-unverified"}:${network}`;
  const max = verified ? CODE_LIMITS.networkVerified : CODE_LIMITS.networkUnverified;
  return [
    { name, max, message: `Too many codes were asked for from your network address ${LATER}`, countsAttempts: true },
  ];
};

const bucketsOfDestination = ({ email, verified }: CodeToMail): Bucket[] => {
  if (verified) return [];
  const max = CODE_LIMITS.unverifiedDestination;
  const message = `Too many codes were mailed to this address ${LATER}`;
  return [{ name: `mailbox:${mailboxOf(email)}`, max, message, countsAttempts: false }];
};

const byName = (one: Bucket, other: Bucket): number => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0);
const hourBefore = (now: Date): Date => new Date(now.getTime() - HOUR_MS);
const hourAfter = ({ first }: Counted, now: Date): Date => new Date((first ?? now).getTime() + HOUR_MS);
const guessBucket = (guesser: string): string => `wrong:${guesser}`;

const limited = (message: string, until: Date, now: Date): DomainError => {
  const retryAfterSeconds = secondsUntil(until, now);
  return new DomainError("rate_limited", message, { retryAfterSeconds });
};

/**
 * Limits every code that is mailed, and guesses at codes. The counts are in the database, so they hold over all instances.
 * An API key has counts of its own, so its use never keeps a person from getting or using a code.
 * @param limitNetworks false where clients cannot be told apart by their addresses
 */
export const createCodeLimits = ({ limitNetworks }: { readonly limitNetworks: boolean }): CodeLimits => {
  const bucketsOf = (code: CodeToMail): Bucket[] => {
    const network = limitNetworks ? (code.actor.request?.clientNetwork ?? null) : null;
    return [
      ...bucketsOfRequester(code.actor),
      ...bucketsOfDestination(code),
      ...bucketsOfNetwork(network, code.verified),
    ].sort(byName);
  };

  return {
    countCode: async (tx, code) => {
      const buckets = bucketsOf(code);
      for (const { name, max, message } of buckets) {
        const counted = await countUnderLock(tx, name, hourBefore(code.at));
        if (counted.count >= max) throw limited(message, hourAfter(counted, code.at), code.at);
      }
      const names = buckets.map(({ name }) => name);
      await addTo(tx, names, { id: code.id, at: code.at });
    },
    withdraw: (tx, code) => {
      const names = bucketsOf(code).flatMap(({ name, countsAttempts }) => (countsAttempts ? [] : [name]));
      return removeFrom(tx, names, code);
    },
    lockGuesses: async (tx, guesser, now) => {
      const counted = await countUnderLock(tx, guessBucket(guesser), hourBefore(now));
      return counted.count >= CODE_LIMITS.wrongGuesses ? hourAfter(counted, now) : null;
    },
    countWrongGuess: (tx, guesser, guess) => addTo(tx, [guessBucket(guesser)], guess),
  };
};
