import { secondsUntil } from "@/lib/core/clock";
import { type Actor, responsibleUserId, type UserActor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { mailboxOf } from "@/lib/core/mailbox";
import type { Tx } from "@/lib/platform/db/client";
import type { NoticeLimits, NoticeToMail } from "@/lib/news/mail/service";
import {
  addTo,
  countUnderLock,
  guessBucket,
  idsIn,
  removeFrom,
  type Counted,
} from "./code-limits-repository";

/** Allowed events per hour: codes, other mails, and guesses. */
export const CODE_LIMITS = {
  /** Codes that one person requested. */
  person: 60,
  /** Codes that one API key requested. */
  apiKey: 30,
  /**
   * Codes that all API keys of one person requested. They are mailed to that person but do not
   * count as the person's own codes.
   */
  apiKeysOfPerson: 60,
  /**
   * Codes to a mailbox that the requesting account has not verified, and invitations to it, over
   * all accounts and projects, because the mailbox may belong to a stranger.
   */
  unverifiedDestination: 5,
  invitationsOfPerson: 20,
  invitationsOfProject: 50,
  /**
   * Notices of one project to one mailbox, each in a separate mail. Notices above the limit wait
   * and are sent together in one mail, so no notice is lost.
   */
  notices: 30,
  /** Codes to unverified addresses, and invitations, that one client network requested. */
  networkUnverified: 60,
  /**
   * Codes to verified addresses that one client network requested. Many people of an office may
   * share a network.
   */
  networkVerified: 600,
  /** Wrong guesses of one person or API key, over all codes. */
  wrongGuesses: 20,
} as const;

const HOUR_MS = 3_600_000;

export interface CodeToMail {
  readonly id: string;
  readonly at: Date;
  readonly actor: Actor;
  readonly email: string;
  /**
   * Whether the requesting person, or the creator of the requesting API key, has verified this
   * address.
   */
  readonly verified: boolean;
}

export interface InvitationToMail {
  readonly id: string;
  readonly at: Date;
  readonly actor: UserActor;
  readonly email: string;
}

export interface CodeLimits extends NoticeLimits {
  /**
   * Counts a code to be mailed, in the transaction that stores it.
   * @throws DomainError `rate_limited`, which has to roll that transaction back
   */
  countCode(tx: Tx, code: CodeToMail): Promise<void>;
  /**
   * Removes the counts of a code that could not be mailed, except the count of the client's
   * network.
   */
  withdraw(tx: Tx, code: CodeToMail): Promise<void>;
  /**
   * Refuses an invitation that `countInvitation` would refuse, before a proof is used for it.
   * Counts nothing.
   * @throws DomainError `rate_limited`
   */
  checkInvitation(tx: Tx, invitation: InvitationToMail): Promise<void>;
  /**
   * Counts an invitation to be mailed, in the transaction that stores it.
   * @throws DomainError `rate_limited`, which has to roll that transaction back
   */
  countInvitation(tx: Tx, invitation: InvitationToMail): Promise<void>;
  /**
   * Serialises all guesses of one guesser until the transaction ends.
   * @returns the time from which the guesser may guess again; null when no wait is needed
   */
  lockGuesses(tx: Tx, guesser: string, now: Date): Promise<Date | null>;
  /** Counts a wrong guess. Requires `lockGuesses`. */
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

const bucketsOfRequester = (actor: Actor): Bucket[] => {
  const personId = responsibleUserId(actor);
  if (actor.type === "user") {
    const message = `Too many codes were sent to you ${LATER}`;
    return [
      { name: `person:${personId}`, max: CODE_LIMITS.person, message, countsAttempts: false },
    ];
  }
  const { apiKey, apiKeysOfPerson } = CODE_LIMITS;
  const byKey = `This API key asked for too many codes ${LATER}`;
  const byKeys = `API keys asked for too many codes for the person who made them ${LATER}`;
  return [
    { name: `key:${actor.keyId}`, max: apiKey, message: byKey, countsAttempts: false },
    {
      name: `keys-of:${personId}`,
      max: apiKeysOfPerson,
      message: byKeys,
      countsAttempts: false,
    },
  ];
};

const bucketsOfNetwork = (network: string | null, verified: boolean): Bucket[] => {
  if (network === null) return [];
  const name = `${verified ? "network" : "network-unverified"}:${network}`;
  const max = verified ? CODE_LIMITS.networkVerified : CODE_LIMITS.networkUnverified;
  return [
    {
      name,
      max,
      message: `Too many codes were asked for from your network address ${LATER}`,
      countsAttempts: true,
    },
  ];
};

const bucketsOfDestination = ({ email, verified }: CodeToMail): Bucket[] => {
  if (verified) return [];
  const max = CODE_LIMITS.unverifiedDestination;
  const message = `Too many codes were mailed to this address ${LATER}`;
  return [{ name: `mailbox:${mailboxOf(email)}`, max, message, countsAttempts: false }];
};

const bucketsOfInvitation = (
  { actor, email }: InvitationToMail,
  network: string | null,
): Bucket[] => {
  const {
    invitationsOfPerson,
    invitationsOfProject,
    unverifiedDestination,
    networkUnverified,
  } = CODE_LIMITS;
  const of = (name: string, max: number, whose: string): Bucket => ({
    name,
    max,
    message: `Too many invitations were sent ${whose} ${LATER}`,
    countsAttempts: true,
  });
  return [
    of(`invitations-of:${actor.userId}`, invitationsOfPerson, "by you"),
    of(`invitations-to:${actor.projectId}`, invitationsOfProject, "to this project"),
    of(`mailbox:${mailboxOf(email)}`, unverifiedDestination, "to this address, or codes,"),
    ...(network === null
      ? []
      : [of(`network-unverified:${network}`, networkUnverified, "from your network address")]),
  ];
};

const noticeBucket = ({ projectId, to }: NoticeToMail): string =>
  `notices:${projectId}:${mailboxOf(to)}`;

const byName = (one: Bucket, other: Bucket): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
const hourBefore = (now: Date): Date => new Date(now.getTime() - HOUR_MS);
const hourAfter = ({ first }: Counted, now: Date): Date =>
  new Date((first ?? now).getTime() + HOUR_MS);

const limited = (message: string, until: Date, now: Date): DomainError => {
  const retryAfterSeconds = secondsUntil(until, now);
  return new DomainError("rate_limited", message, { retryAfterSeconds });
};

/**
 * Limits mailed codes, invitations and guesses at codes. The counts are in the database, so they
 * hold over all instances. API keys are counted separately, so their use never keeps a person from
 * getting or using a code.
 * @param limitNetworks false when clients cannot be distinguished by their addresses
 */
export const createCodeLimits = ({
  limitNetworks,
}: {
  readonly limitNetworks: boolean;
}): CodeLimits => {
  const networkOf = (actor: Actor): string | null =>
    limitNetworks ? (actor.request?.clientNetwork ?? null) : null;
  const bucketsOf = (code: CodeToMail): Bucket[] => {
    const network = networkOf(code.actor);
    return [
      ...bucketsOfRequester(code.actor),
      ...bucketsOfDestination(code),
      ...bucketsOfNetwork(network, code.verified),
    ].sort(byName);
  };

  const check = async (tx: Tx, buckets: readonly Bucket[], at: Date): Promise<void> => {
    for (const { name, max, message } of buckets) {
      const counted = await countUnderLock(tx, name, hourBefore(at));
      if (counted.count >= max) throw limited(message, hourAfter(counted, at), at);
    }
  };
  const count = async (
    tx: Tx,
    buckets: readonly Bucket[],
    { id, at }: { id: string; at: Date },
  ): Promise<void> => {
    await check(tx, buckets, at);
    const names = buckets.map(({ name }) => name);
    await addTo(tx, names, { id, at });
  };
  const ofInvitation = (invitation: InvitationToMail): Bucket[] =>
    bucketsOfInvitation(invitation, networkOf(invitation.actor)).sort(byName);

  return {
    countCode: (tx, code) => count(tx, bucketsOf(code), code),
    checkInvitation: (tx, invitation) => check(tx, ofInvitation(invitation), invitation.at),
    countInvitation: (tx, invitation) => count(tx, ofInvitation(invitation), invitation),
    takeNotice: async (tx, notice) => {
      const { id, at } = notice;
      const bucket = noticeBucket(notice);
      const counted = await countUnderLock(tx, bucket, hourBefore(at));
      const turns = await idsIn(tx, bucket, hourBefore(at));
      if (turns.has(id)) return { until: null, turns };
      if (counted.count >= CODE_LIMITS.notices) return { until: hourAfter(counted, at), turns };
      await addTo(tx, [bucket], { id, at });
      return { until: null, turns };
    },
    withdraw: (tx, code) => {
      const names = bucketsOf(code).flatMap(({ name, countsAttempts }) =>
        countsAttempts ? [] : [name],
      );
      return removeFrom(tx, names, code);
    },
    lockGuesses: async (tx, guesser, now) => {
      const counted = await countUnderLock(tx, guessBucket(guesser), hourBefore(now));
      return counted.count >= CODE_LIMITS.wrongGuesses ? hourAfter(counted, now) : null;
    },
    countWrongGuess: (tx, guesser, guess) => addTo(tx, [guessBucket(guesser)], guess),
  };
};
