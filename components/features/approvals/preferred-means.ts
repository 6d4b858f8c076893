/** A way to prove that a person approves something. */
export type MeansKind = "passkey" | "app" | "recovery" | "code" | "wallet";

interface Possible {
  /** The ways that the service accepts and the person has, in the order in which they are offered. */
  readonly options: readonly MeansKind[];
  /** Whether a code was mailed for this before, for instance before a reload. */
  readonly isMailed: boolean;
}

/**
 * The way that is offered first: a passkey; else a mailed code; else the authenticator app; else the
 * wallet. A person to whom a code was mailed already goes on with it. Null when there is none.
 */
export const preferredMeans = ({ options, isMailed }: Possible): MeansKind | null => {
  if (isMailed && options.includes("code")) return "code";
  const order = ["passkey", "code", "app", "wallet", "recovery"] as const;
  return order.find((kind) => options.includes(kind)) ?? null;
};

interface Person {
  readonly hasPasskey: boolean;
  readonly hasApp: boolean;
  /** Whether codes can be mailed to a verified address. */
  readonly hasAddress: boolean;
}

interface Accepted {
  readonly code: boolean;
  readonly wallet: boolean;
  readonly recovery: boolean;
}

/** The ways that the service accepts and the person has. */
export const meansOf = (
  { hasPasskey, hasApp, hasAddress }: Person,
  accepted: Accepted,
): readonly MeansKind[] => [
  ...(hasPasskey ? (["passkey"] as const) : []),
  ...(accepted.code && hasAddress ? (["code"] as const) : []),
  ...(hasApp ? (["app"] as const) : []),
  ...(accepted.wallet ? (["wallet"] as const) : []),
  ...(hasApp && accepted.recovery ? (["recovery"] as const) : []),
];
