import { describe, expect, test } from "vitest";
import type { ChainFacts } from "@/lib/chain/shown-chain";
import { OPERATION_KINDS, type MovementKindName as Kind } from "@/lib/core/movement-kinds";
import type { Failure } from "./rows";
import { outcomeOf } from "./outcome";
import type { Operation } from "./operation";
import { LEG_CHANGES, type LegState, PRIVATE_CHANGES, summarizeLegs } from "./summary";

const [ONE, TWO] = [1, 2];
const ALICE = "0x1111111111111111111111111111111111111111";
const BOB = "0x2222222222222222222222222222222222222222";
const chains: ChainFacts = {
  find: (chainId) => ({
    name: `Chain ${String(chainId)}`,
    confirmations: 1,
    nativeCurrency: { symbol: "ETH", decimals: 18 },
    tokens: [],
  }),
};

const USDC = {
  symbol: "USDC",
  name: "USDC",
  address: ALICE,
  chainId: ONE,
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};

const failure = (retryable: boolean, code = "not_sent"): Failure => ({
  code,
  message: "It was not sent.",
  retryable,
});

/** A leg, and the wallet that pays for it. */
interface Part {
  readonly owner: string;
  readonly chainId: number;
  readonly fields: object;
}

const part = (owner: string, chainId: number, fields: object): Part => ({
  owner,
  chainId,
  fields,
});

const tokenOn = (chainId: number) => ({
  symbol: "ETH",
  address: "native",
  chainId,
  decimals: 18,
  assetId: null,
});

/** An operation whose parts pay 5 each. */
const operation = (fields: object, parts: readonly Part[] = []): Operation =>
  ({
    kind: "transfer",
    status: "processing",
    subStatus: "full",
    failure: null,
    gasWaits: [],
    quoted: {},
    request: {
      sources: parts.map(({ owner, chainId }) => ({
        owner,
        token: tokenOn(chainId),
        amountBase: 5n,
      })),
      destination: { recipient: BOB, token: tokenOn(TWO) },
    },
    legs: parts.map((one, sourceIndex) => ({
      amountBase: 5n,
      spentBase: null,
      receivedBase: null,
      refundedBase: null,
      failure: null,
      refundToken: null,
      refundTxHash: null,
      sourceTxHash: null,
      destTxHash: null,
      sourceChainId: one.chainId,
      routeLeg: { steps: [], sourceIndex },
      ...one.fields,
    })),
    ...fields,
  }) as unknown as Operation;

const outcome = (fields: object, parts: readonly Part[] = []) =>
  outcomeOf(operation(fields, parts), chains);

const unclear = part(ALICE, ONE, { state: "failed", failure: failure(false) });
const clear = part(BOB, TWO, { state: "failed", failure: failure(true) });
const refunded = part(BOB, TWO, { state: "refunded" });
const arrived = part(BOB, TWO, { state: "completed" });

const nextOf = (status: string, parts: readonly Part[]): string =>
  outcome({ status }, parts).nextAction;

describe("money that may have moved although its leg failed", () => {
  test("is never said to be untouched", () => {
    const { holdings, sentence } = outcome({ status: "failed" }, [unclear]);
    for (const { note } of holdings)
      expect(note).toMatch(/not for certain: look at the wallet's history first/);
    expect(sentence).toMatch(/whether the money is still in the source wallet is not certain/);
    expect(outcome({ status: "failed" }, [clear]).holdings.map(({ note }) => note)).toEqual([
      "in the source wallet; nothing was taken",
    ]);
  });

  test.each(["failed", "refunded", "completed"])(
    "is to be looked for before anything is sent again (%s)",
    (status) => {
      const next = nextOf(status, [unclear]);
      expect(next).toContain(`${ALICE} on Chain 1`);
      expect(next).toMatch(
        /look at the wallet's history first, before you send anything again\.$/,
      );
      expect(next).not.toMatch(/new quote|try again|The money is in/);
    },
  );

  test("does not keep the money of other wallets from being sent again", () => {
    for (const other of [clear, refunded])
      expect(nextOf("refunded", [unclear, other])).toMatch(
        new RegExp(
          `before you send anything again\\. What is in ${BOB} on Chain 2 can be sent with a new quote\\.$`,
        ),
      );
    const sameWallet = part(ALICE, ONE, { state: "failed", failure: failure(true) });
    expect(nextOf("failed", [unclear, sameWallet])).not.toContain("new quote");
  });
});

test("the bridge holds what was deposited, which a swap before it may have made more or less than quoted", () => {
  const step = {
    kind: "bridge",
    venue: "Across",
    from: USDC,
    to: USDC,
    amountInBase: 10n,
    amountOutBase: 9n,
  };
  const bridging = part(ALICE, ONE, {
    state: "bridging",
    spentBase: 5n,
    depositedBase: 11n,
    routeLeg: { steps: [step], sourceIndex: 0 },
  });
  expect(outcome({ subStatus: "bridging" }, [bridging]).holdings).toEqual([
    expect.objectContaining({ wallet: "Across deposit", token: USDC, amountBase: 11n }),
  ]);
});

test("money that is certainly in a wallet can be sent with a new quote", () => {
  expect(nextOf("failed", [clear])).toBe(
    `The money is in ${BOB} on Chain 2. Ask for a new quote to try again.`,
  );
  expect(nextOf("completed", [arrived, clear])).toBe(
    `The rest is in ${BOB} on Chain 2; ask for a new quote to send it.`,
  );
  expect(nextOf("completed", [arrived])).toBe("Nothing to do: everything arrived.");
});

const KINDS = OPERATION_KINDS;
/** The kinds that spend notes without a leg of the treasury. */
const SPENDS: readonly Kind[] = ["unshield", "private_transfer", "private_swap"];
const IN_NOTES: readonly Kind[] = [...SPENDS, "public_exit"];
const MOVES = KINDS.filter((kind) => kind !== "deposit");

const NOTES = "the private wallet's notes";
const WALLET = "the source wallet";
const originOf = (kind: Kind): string => (IN_NOTES.includes(kind) ? NOTES : WALLET);
const otherOf = (kind: Kind): string => (IN_NOTES.includes(kind) ? WALLET : NOTES);

/** All texts of an outcome as one string. */
const textsOf = (fields: object, parts: readonly Part[] = []): string => {
  const { sentence, holdings, nextAction } = outcome(fields, parts);
  return [sentence, ...holdings.map(({ note }) => note), nextAction].join(" | ");
};

const source = { owner: ALICE, token: tokenOn(ONE), amountBase: 5n };
const request = { sources: [source], destination: { recipient: BOB, token: tokenOn(TWO) } };

/** The sentence about an operation of any kind that has no legs, by its state. */
const WITHOUT_LEGS = [
  {
    status: "pending",
    subStatus: "awaiting_approval",
    says: /Waiting for approval. Nothing was/,
  },
  { status: "pending", subStatus: "prepared", says: /about to be sent/ },
  { status: "cancelled", subStatus: "awaiting_approval", says: /Cancelled. Nothing was sent/ },
  { status: "cancelled", subStatus: "prepared", says: /Cancelled. Nothing was sent/ },
  { status: "expired", subStatus: "awaiting_approval", says: /Nobody approved it in time/ },
  {
    status: "failed",
    subStatus: "awaiting_approval",
    says: /was approved, and refused when it/,
  },
] as const;

describe.each(MOVES)("%s without legs", (kind) => {
  test.each(WITHOUT_LEGS)(
    "is where it was, and its end is said by its cause ($status, $subStatus)",
    ({ status, subStatus, says }) => {
      const isFailed = status === "failed";
      for (const code of ["policy_violation", "insufficient_reserves", "quote_price_moved"]) {
        const why = isFailed ? failure(false, code) : null;
        const fields = { kind, status, subStatus, request, failure: why };
        const { sentence, holdings } = outcome(fields);
        expect(sentence).toMatch(says);
        expect(holdings).toMatchObject([{ wallet: ALICE, amountBase: 5n }]);
        const texts = textsOf(fields);
        expect(texts).toContain(originOf(kind));
        expect(texts).not.toContain(otherOf(kind));
        // Only an operation that nobody approved may say so.
        expect(/nobody approved/i.test(texts)).toBe(status === "expired");
        expect(texts).not.toMatch(/not certain|arrived|The money is in \./);
      }
    },
  );
});

describe.each(SPENDS)("%s of notes", (kind) => {
  const spend = (fields: object) => ({ kind, request, ...fields });

  test("says that the proof is being made, and that the money is in the notes until its transactions are final", () => {
    const proving = textsOf(spend({ status: "pending", subStatus: "proving" }));
    expect(proving).toMatch(/The proof is being made.*while the proof is being made/);
    const sent = textsOf(spend({ status: "processing", subStatus: "source_submitted" }));
    expect(sent).toContain("in the private wallet's notes, until its transactions are final");
  });

  test("says which part arrived and where the rest is", () => {
    const quoted = { spentBase: 2n, receivedBase: 2n };
    const ended = { status: "partially_completed", subStatus: "partial", quoted };
    const { holdings, nextAction } = outcome(spend({ ...ended, failure: failure(true) }));
    expect(holdings.map(({ wallet, amountBase }) => [wallet, amountBase])).toEqual([
      [BOB, 2n],
      [ALICE, 3n],
    ]);
    expect(nextAction).toBe("The rest is still in the private wallet's notes.");
  });

  test("is uncertain when an unknown transaction spent the note, and certain for other failures", () => {
    const failed = { status: "failed", subStatus: "queued" };
    const spent = textsOf(spend({ ...failed, failure: failure(false, "note_spent") }));
    expect(spent.match(/not certain|not for certain/g)).toHaveLength(3);
    for (const code of ["screening_refused", "pool_refused", "policy_violation"]) {
      const texts = textsOf(
        spend({ ...failed, failure: failure(code !== "screening_refused", code) }),
      );
      expect(texts).not.toMatch(/certain/);
      expect(texts).toContain("The money is in the private wallet's notes");
    }
  });
});

/** Where the money of one leg is, by its state. */
const OF_LEG: Readonly<Record<LegState, RegExp>> = {
  queued: /^in ORIGIN, about to be sent$/,
  submitted: /^in ORIGIN, about to be sent$/,
  source_seen: /^received, waiting for confirmations$/,
  bridging: /^with the bridge, waiting for a relayer$/,
  filled_seen: /^received, waiting for confirmations$/,
  refunding: /^with the bridge, on its way back$/,
  refund_seen: /^back in the source wallet$/,
  needs_attention: /^with the bridge, or back in the source wallet already/,
  completed: /^received$/,
  failed: /^in ORIGIN; nothing was taken$/,
  refunded: /^back in the source wallet$/,
};

const LEGGED = MOVES.filter((kind) => !SPENDS.includes(kind));
const STATES = Object.keys(OF_LEG) as LegState[];

describe.each(LEGGED)("%s with one leg", (kind) => {
  test.each(STATES)("says where its money is while the leg is %s", (state) => {
    const receivedBase = state === "completed" ? 5n : null;
    const one = part(ALICE, ONE, {
      state,
      receivedBase,
      failure: state === "failed" ? failure(true) : null,
    });
    const { status, subStatus } = summarizeLegs([{ state, receivedBase }], { minimumBase: 5n });
    const { holdings, sentence, nextAction } = outcome({ kind, status, subStatus }, [one]);
    const expected = new RegExp(OF_LEG[state].source.replace("ORIGIN", originOf(kind)));
    expect(holdings.map(({ note }) => note)).toEqual([expect.stringMatching(expected)]);
    if (state === "completed")
      expect(sentence).toMatch(kind === "shield" ? /^Shielded\./ : /^Arrived on Chain 2\.$/);
    if (state === "failed")
      expect(sentence).toBe(`Nothing arrived. The money is in ${originOf(kind)}.`);
    if (state === "needs_attention") expect(sentence).toMatch(/needs a person's decision/);
    if (state === "refunding") expect(sentence).toMatch(/the bridge sends the money back/);
    expect(sentence + nextAction).not.toMatch(/Nobody approved|undefined/);
  });
});

test("every state that an operation can have has a sentence and an advice of its own kind", () => {
  for (const [changes, kinds] of [
    [LEG_CHANGES, LEGGED],
    [PRIVATE_CHANGES, SPENDS],
  ] as const)
    for (const state of new Set([...Object.keys(changes), ...Object.values(changes).flat()])) {
      const [status, subStatus] = state.split("/");
      for (const kind of kinds)
        expect(textsOf({ kind, status, subStatus, request })).not.toMatch(
          /undefined|in \.|^ \|/,
        );
    }
});

test("a quarantined deposit is kept back, and one that never became final is its sender's", () => {
  const deposit = { kind: "deposit", request, minimumBase: 5n };
  const kept = textsOf({ ...deposit, status: "processing", subStatus: "quarantined" });
  expect(kept).toMatch(
    /^Kept back until a person releases it\..*An owner or an admin releases it/,
  );
  const gone = outcome({ ...deposit, status: "failed", subStatus: "full" });
  expect(gone.holdings).toEqual([]);
  expect(gone.sentence).toBe("The deposit never became final; its sender has the money.");
});
