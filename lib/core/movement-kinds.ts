/**
 * The kinds of operations that move money, in one table. A new kind does not compile until it
 * defines everything that codes, votes, policies, errors and screens need.
 */
interface MovementKind {
  /** Name of the kind on screens and in titles of tasks. */
  readonly words: string;
  /** Completes "Your code to approve a …"; null when the kind cannot be approved by a code. */
  readonly codeFor: string | null;
  /** Scope that an API key needs to start an operation of this kind. */
  readonly scope: "swaps:write" | "transfers:write" | "privacy:write" | "operations:write";
  /** Completes sentences about the location of the money before it moves. */
  readonly startsIn: string;
  /** Whether details of an operation of this kind are shown only on the private page. */
  readonly isPrivate: boolean;
  /**
   * Direction of the money when the counterparty does not belong to the project; null for kinds
   * whose money always stays in the project.
   */
  readonly flow: "in" | "out" | null;
  /** Names of fields of the request that differ from the names in a transfer. */
  readonly fields: {
    readonly token?: string;
    readonly recipient?: string;
    readonly chain?: string;
  };
}

const WALLET = "the source wallet";
const NOTES = "the private wallet's notes";
const IN_PRIVATE = {
  codeFor: "private operation",
  scope: "privacy:write",
  isPrivate: true,
} as const;

export const MOVEMENT_KINDS = {
  swap: {
    words: "Swap",
    codeFor: "swap",
    scope: "swaps:write",
    startsIn: WALLET,
    isPrivate: false,
    flow: "out",
    fields: { token: "from" },
  },
  transfer: {
    words: "Transfer",
    codeFor: "transfer",
    scope: "transfers:write",
    startsIn: WALLET,
    isPrivate: false,
    flow: "out",
    fields: {},
  },
  swap_and_transfer: {
    words: "Swap and transfer",
    codeFor: "swap with transfer",
    scope: "swaps:write",
    startsIn: WALLET,
    isPrivate: false,
    flow: "out",
    fields: { recipient: "recipient", token: "fromToken" },
  },
  shield: {
    ...IN_PRIVATE,
    words: "Shield",
    startsIn: WALLET,
    flow: null,
    fields: { chain: "chainId" },
  },
  unshield: {
    ...IN_PRIVATE,
    words: "Unshield",
    startsIn: NOTES,
    flow: "out",
    fields: {},
  },
  private_transfer: {
    ...IN_PRIVATE,
    words: "Private transfer",
    startsIn: NOTES,
    flow: "out",
    fields: {},
  },
  private_swap: {
    ...IN_PRIVATE,
    words: "Private swap",
    startsIn: NOTES,
    flow: null,
    fields: {},
  },
  public_exit: {
    ...IN_PRIVATE,
    words: "Public exit",
    startsIn: NOTES,
    flow: "out",
    fields: {},
  },
  deposit: {
    words: "Deposit",
    codeFor: null,
    scope: "operations:write",
    startsIn: "the sender's wallet",
    isPrivate: false,
    flow: "in",
    fields: {},
  },
} as const satisfies Readonly<Record<string, MovementKind>>;

export type MovementKindName = keyof typeof MOVEMENT_KINDS;

const KINDS: Readonly<Record<string, MovementKind>> = MOVEMENT_KINDS;

/** The kind with this name; undefined for a name that another version stored. */
export const movementKind = (name: string): MovementKind | undefined => KINDS[name];

/** The kind's name on screens and in titles. */
export const movementWords = (name: string): string => movementKind(name)?.words ?? "Operation";

type PrivateKindName = {
  [Name in MovementKindName]: (typeof MOVEMENT_KINDS)[Name]["isPrivate"] extends true
    ? Name
    : never;
}[MovementKindName];

/**
 * Whether an operation brings money into the project or takes it out; null when the money stays in
 * the project.
 */
export const flowOf = (name: string, isToOwnWallet: boolean): MovementKind["flow"] => {
  const flow = movementKind(name)?.flow ?? null;
  return flow === "out" && isToOwnWallet ? null : flow;
};

/** Whether details of operations of this kind are shown only on the private page. */
export const isPrivateKind = (name: string): name is PrivateKindName =>
  movementKind(name)?.isPrivate === true;

/** A tuple type that is never empty, because zod's schemas require one element. */
type Names<Name extends string> = readonly [Name, ...Name[]];

export const OPERATION_KINDS = Object.keys(
  MOVEMENT_KINDS,
) as unknown as Names<MovementKindName>;
export const PRIVATE_KINDS = OPERATION_KINDS.filter(
  isPrivateKind,
) as unknown as Names<PrivateKindName>;
