import type { z } from "zod";
import type { ChainFacts } from "@/lib/chain/shown-chain";
import type { PoolPlace } from "@/lib/chain/privacy-pools";
import type {
  exportPrivacyWallet,
  getPrivateBalances,
  listPrivateExits,
} from "@/lib/contracts/privacy";
import type { preparePrivateSwap, quotePrivateSwap } from "@/lib/contracts/privacy-swap";
import type {
  poolRecord,
  privacyWalletRecord,
  privateTransferRecord,
} from "@/lib/contracts/privacy-records";
import type { Clock } from "@/lib/core/clock";
import { formatAmount } from "@/lib/core/money";
import { toAmountRecord, type Token, toTokenRecord } from "@/lib/core/token";
import { toOutcome } from "@/lib/money/operations/service";
import type { Export } from "./export-wallet";
import type { PrivateStep, PrivateWallet } from "./rows";
import type { PossibleExit } from "./public-exit";
import type { TransferView, WalletBalance } from "./read-transfers";

type Record = z.output<typeof privateTransferRecord>;

/** Facts that everybody can see on the chain, whichever privacy engine is used. */
export const STAYS_PUBLIC = [
  "That the treasury deposited into the pool, how much, and when.",
  "The amount and the recipient of every withdrawal to an address, and when it was made.",
  "What a private swap sold and bought. Equal amounts and near times can connect what was meant to stay apart.",
];

export const toPrivacyWallet = ({
  id,
  name,
  createdAt,
  exportedAt,
}: PrivateWallet): z.output<typeof privacyWalletRecord> => ({
  id: id,
  name,
  createdAt: createdAt.toISOString(),
  exportedAt: exportedAt?.toISOString() ?? null,
});

export const toPool = ({
  token,
  address,
  scope,
  entrypoint,
  startBlock,
}: PoolPlace): z.output<typeof poolRecord> => ({
  token: toTokenRecord(token),
  address,
  scope: scope.toString(),
  entrypoint,
  startBlock,
});

export const toExport = (
  answer: Export,
  places: readonly PoolPlace[],
): z.output<typeof exportPrivacyWallet.response> => {
  const pools = places.map(toPool);
  if (answer.state === "shown") return { mnemonic: answer.mnemonic, waitsFor: null, pools };
  const waitsFor = { decisionId: answer.decisionId, expiresAt: answer.expiresAt.toISOString() };
  return { mnemonic: null, waitsFor, pools };
};

export const toPrivateBalances = (
  balances: readonly WalletBalance[],
  { engine, anonymitySetMin }: { readonly engine: string; readonly anonymitySetMin: number },
): z.output<typeof getPrivateBalances.response> => ({
  data: balances.map(({ pool, ...balance }) => {
    const text = (base: bigint): string => formatAmount(base, pool.token.decimals);
    return {
      privacyWalletId: balance.privacyWalletId,
      chainId: pool.chainId,
      token: toTokenRecord(pool.token),
      spendable: text(balance.spendableBase),
      pendingApproval: text(balance.pendingBase),
      inProof: text(balance.inProofBase),
      declined: text(balance.declinedBase),
      anonymitySet: balance.anonymitySet,
      minimum: text(pool.minimumBase),
      shieldFeeBps: pool.shieldFeeBps,
      relayFeeBps: pool.relayFeeBps,
      canProcess: pool.mayProcess,
    };
  }),
  anonymitySetMin,
  engine,
  staysPublic: [...STAYS_PUBLIC],
});

export const toPrivateExits = (
  exits: readonly PossibleExit[],
): z.output<typeof listPrivateExits.response> => ({
  data: exits.flatMap(({ privacyWalletId, note, leaving }) =>
    note.state === "approved"
      ? []
      : [
          {
            noteId: note.id,
            privacyWalletId,
            chainId: note.chainId,
            amount: toAmountRecord(note.token, note.valueBase),
            state: note.state,
            txHash: note.txHash,
            leaving,
          },
        ],
  ),
});

const proofOf = (
  { steps, expectedProofMs, operation }: TransferView,
  now: Date,
): Record["proof"] => {
  const proving = steps.find(
    ({ state, provingSince }) => state === "queued" && provingSince !== null,
  );
  if (
    proving === undefined ||
    proving.provingSince === null ||
    operation.status === "cancelled"
  )
    return null;
  const passed = now.getTime() - proving.provingSince.getTime();
  return {
    startedAt: proving.provingSince.toISOString(),
    secondsLeft: Math.max(1, Math.ceil((expectedProofMs - passed) / 1000)),
  };
};

/** Milliseconds after which a sent transaction that is not final counts as late, on every chain. */
const LATE_AFTER_MS = 15 * 60_000;
const SENT =
  "Nothing to do: its transaction was sent and is not final yet. The money is in the note until the chain takes the transaction, and with its recipient from then on.";
const LATE =
  "Its transaction is not final for longer than usual. The money is in the note until the chain takes the transaction, and cannot be paid twice. Do not send it again. It goes on by itself when the chain's network fee falls below the service's cap, or its node answers again; if it stays so, ask the operator to look at the transaction's hash, at the executor's coins and at the fee cap.";

/**
 * Since when a submitted step waits for the chain, and what to do; null for other steps. The step's
 * row was last changed when its transaction was sent, so the wait begins at `updatedAt`.
 */
const waitOf = (
  { state, updatedAt }: PrivateStep,
  now: Date,
): Record["steps"][number]["waits"] =>
  state === "submitted"
    ? {
        since: updatedAt.toISOString(),
        nextAction: now.getTime() - updatedAt.getTime() < LATE_AFTER_MS ? SENT : LATE,
      }
    : null;

/** The steps of an operation that spends notes. A shield or public exit has a leg instead. */
const stepsOf = ({ steps }: TransferView, token: Token, now: Date): Record["steps"] =>
  steps.map((step) => ({
    state: step.state,
    withdrawn: formatAmount(step.withdrawBase, token.decimals),
    txHash: step.txHash,
    waits: waitOf(step, now),
    failure: step.failure,
  }));

/**
 * Base units that arrived, from the steps of a spend, or from the leg of a shield or public exit.
 */
const receivedOf = ({ steps, operation }: TransferView): bigint =>
  [
    ...steps.map(({ receivedBase }) => receivedBase),
    ...operation.legs.map(({ receivedBase }) => receivedBase),
  ].reduce<bigint>((sum, receivedBase) => sum + (receivedBase ?? 0n), 0n);

export interface ShownWith {
  readonly registry: ChainFacts;
  readonly clock: Clock;
}

export const toPrivateTransfer = (
  view: TransferView,
  { registry, clock }: ShownWith,
): Record => {
  const now = clock.now();
  const { transfer, operation } = view;
  const { token, tokenOut, minimumBase } = transfer;
  const received = receivedOf(view);
  return {
    id: transfer.id,
    transferId: transfer.id,
    operationId: transfer.operationId,
    kind: transfer.kind,
    status: operation.status,
    subStatus: operation.subStatus,
    privacyWalletId: transfer.walletId,
    toPrivacyWalletId: transfer.toWalletId,
    toAddress: transfer.toAddress,
    chainId: transfer.chainId,
    amount: toAmountRecord(token, transfer.amountBase),
    minimum: minimumBase === null ? null : toAmountRecord(tokenOut, minimumBase),
    received: received === 0n ? null : toAmountRecord(tokenOut, received),
    steps: stepsOf(view, token, now),
    proof: proofOf(view, now),
    failure: operation.failure,
    outcome: toOutcome(operation, registry),
    createdBy: transfer.createdBy,
    createdAt: transfer.createdAt.toISOString(),
    updatedAt: operation.updatedAt.toISOString(),
    expiresAt: operation.expiresAt === null ? null : operation.expiresAt.toISOString(),
    engine: view.engine,
    swapVenue: transfer.kind === "private_swap" ? view.swapVenue : null,
    anonymitySet: view.anonymitySet,
    staysPublic: [...STAYS_PUBLIC],
  };
};

interface Amount {
  readonly token: Token;
  readonly amountBase: bigint;
}

export const toPrivateQuote = (
  quote: {
    quoteId: string;
    expiresAt: Date;
    from: Amount;
    expected: Amount;
    minimum: Amount;
    poolFee: Amount;
    anonymitySet: number | null;
  },
  { engineName, swapVenue }: { readonly engineName: string; readonly swapVenue: string },
): z.output<typeof quotePrivateSwap.response> => {
  const record = ({ token, amountBase }: Amount) => toAmountRecord(token, amountBase);
  return {
    id: quote.quoteId,
    quoteId: quote.quoteId,
    expiresAt: quote.expiresAt.toISOString(),
    from: record(quote.from),
    expected: record(quote.expected),
    minimum: record(quote.minimum),
    poolFee: record(quote.poolFee),
    engine: engineName,
    swapVenue,
    anonymitySet: quote.anonymitySet,
    staysPublic: [...STAYS_PUBLIC],
  };
};

export const toPreparedSwap = (prepared: {
  quoteId: string;
  expiresAt: Date;
  privacyWalletId: string;
  approved: boolean;
}): z.output<typeof preparePrivateSwap.response> => ({
  prepared: true,
  ...prepared,
  expiresAt: prepared.expiresAt.toISOString(),
});
