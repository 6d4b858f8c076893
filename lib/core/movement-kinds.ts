/**
 * The kinds of operations that move money, in one table. A new kind does not compile before it says
 * everything that codes, votes, policies, errors and screens need of it.
 */
interface MovementKind {
  /** Name of the kind, which every screen and the titles of tasks use. */
  readonly words: string;
  /** Completes "Your code to approve a …"; null: no code approves it. */
  readonly codeFor: string | null;
  /** Scope that an API key needs to start such a movement. */
  readonly scope: "swaps:write" | "transfers:write" | "privacy:write" | "operations:write";
  /** Where the money is before it moves, in words. */
  readonly startsIn: string;
  /** Whether only the private page shows the movement's details. */
  readonly isPrivate: boolean;
  /** Fields of its request whose names differ from those of a transfer. */
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
    fields: { token: "from" },
  },
  transfer: {
    words: "Transfer",
    codeFor: "transfer",
    scope: "transfers:write",
    startsIn: WALLET,
    isPrivate: false,
    fields: {},
  },
  swap_and_transfer: {
    words: "Swap and transfer",
    codeFor: "swap with transfer",
    scope: "swaps:write",
    startsIn: WALLET,
    isPrivate: false,
    fields: { recipient: "recipient", token: "fromToken" },
  },
  shield: { ...IN_PRIVATE, words: "Shield", startsIn: WALLET, fields: { chain: "chainId" } },
  unshield: { ...IN_PRIVATE, words: "Unshield", startsIn: NOTES, fields: {} },
  private_transfer: { ...IN_PRIVATE, words: "Private transfer", startsIn: NOTES, fields: {} },
  private_swap: { ...IN_PRIVATE, words: "Private swap", startsIn: NOTES, fields: {} },
  public_exit: { ...IN_PRIVATE, words: "Public exit", startsIn: NOTES, fields: {} },
  deposit: {
    words: "Deposit",
    codeFor: null,
    scope: "operations:write",
    startsIn: "the sender's wallet",
    isPrivate: false,
    fields: {},
  },
} as const satisfies Readonly<Record<string, MovementKind>>;

export type MovementKindName = keyof typeof MOVEMENT_KINDS;

const KINDS: Readonly<Record<string, MovementKind>> = MOVEMENT_KINDS;

/** The kind of this name; undefined for a name that another version stored. */
export const movementKind = (name: string): MovementKind | undefined => KINDS[name];

type PrivateKindName = {
  [Name in MovementKindName]: (typeof MOVEMENT_KINDS)[Name]["isPrivate"] extends true
    ? Name
    : never;
}[MovementKindName];

/** Whether only the private page shows the details of an operation of this kind. */
export const isPrivateKind = (name: string): name is PrivateKindName =>
  movementKind(name)?.isPrivate === true;

/** Never empty, which schemas of zod ask for. */
type Names<Name extends string> = readonly [Name, ...Name[]];

export const OPERATION_KINDS = Object.keys(
  MOVEMENT_KINDS,
) as unknown as Names<MovementKindName>;
export const PRIVATE_KINDS = OPERATION_KINDS.filter(
  isPrivateKind,
) as unknown as Names<PrivateKindName>;
