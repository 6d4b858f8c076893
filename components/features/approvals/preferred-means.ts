/** A way to prove that a person approves something. */
export type MeansKind = "passkey" | "app" | "recovery" | "code" | "wallet";

interface Possible {
  /**
   * The ways that the service accepts and the person has, in the order in which they are offered.
   */
  readonly options: readonly MeansKind[];
  /** Whether a code for this approval was already mailed, for instance before a reload. */
  readonly isMailed: boolean;
}

/**
 * The way that is offered first. A code that was already mailed comes first. Otherwise the order
 * is passkey, mailed code, authenticator app, wallet, recovery code. Null when there is no way.
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

/**
 * The ways that the service accepts and the person has, in the order in which they are offered.
 */
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
