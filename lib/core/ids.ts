import { v7 as uuidv7, validate } from "uuid";

/**
 * Public prefix of each kind of id. The rest is a UUIDv7 (RFC 9562), so ids sort by time of
 * creation.
 */
export const ID_PREFIXES = {
  project: "prj",
  user: "usr",
  session: "ses",
  apiKey: "key",
  wallet: "wal",
  quote: "qt",
  otp: "otp",
  operation: "op",
  leg: "leg",
  userOperation: "uop",
  transaction: "txn",
  transfer: "tr",
  payout: "po",
  payoutSchedule: "sch",
  globalAccount: "ga",
  ledgerTransaction: "ltx",
  funding: "fnd",
  privacyWallet: "pw",
  webhookEndpoint: "we",
  webhookSecret: "whs",
  delivery: "dlv",
  event: "evt",
  request: "req",
  mail: "mail",
  contact: "ct",
  auditEvent: "aud",
  approval: "apr",
  decision: "dec",
  invitation: "inv",
  policy: "pol",
  evaluation: "evl",
  screening: "scr",
  totpFactor: "totp",
  passkey: "psk",
  notification: "ntf",
  export: "exp",
  notificationChannel: "nch",
  channelMessage: "ncm",
  pushSubscription: "psh",
} as const;

export type IdKind = keyof typeof ID_PREFIXES;
export type Id<K extends IdKind> = `${(typeof ID_PREFIXES)[K]}_${string}` & {
  readonly __kind: K;
};

/**
 * Creates a new id: the prefix of its kind, an underscore and a UUIDv7 (RFC 9562).
 * @example newId("payout") // "po_0198c2b4-…"
 */
export const newId = <K extends IdKind>(kind: K): Id<K> =>
  `${ID_PREFIXES[kind]}_${uuidv7()}` as Id<K>;

/**
 * A text that sorts before every id of this kind that was created at or after the time, and after
 * every id that was created earlier.
 */
export const firstIdAt = (kind: IdKind, time: Date): string => {
  const hex = time.getTime().toString(16).padStart(12, "0");
  return `${ID_PREFIXES[kind]}_${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/**
 * Whether `text` has the form of an id of that kind, in lower case. Does not check that the object
 * exists.
 */
export const isId = <K extends IdKind>(kind: K, text: string): text is Id<K> => {
  const prefix = `${ID_PREFIXES[kind]}_`;
  return (
    text.startsWith(prefix) &&
    validate(text.slice(prefix.length)) &&
    text === text.toLowerCase()
  );
};
