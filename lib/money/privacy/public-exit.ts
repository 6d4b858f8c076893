import { type Actor, actorName } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { UserOperationGas } from "@/lib/chain/ports/bundler";
import {
  NoteGoneError,
  NotReadyError,
  type PrivacyPool,
  type PrivateNote,
} from "@/lib/money/ports/privacy";
import type { Call, EvmAddress } from "@/lib/core/evm";
import type { RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import { toStored } from "@/lib/platform/db/codecs";
import { type Consent, digestOf, type PrivacyContext, requireUnfrozenMove } from "./context";
import { noteInUse, noteIsApproved, noteUnknown, TakenError } from "./errors";
import { idempotencyColumns, type IdempotentRequest } from "@/lib/platform/db/idempotency-keys";
import { PRIVACY_PROVIDER, type ExitCalls, type ExitLegPlan } from "./leg-routing";
import type { PrivateTransfer, PrivateWallet } from "./rows";
import {
  ESTIMATED_SECONDS,
  requireTreasury,
  runOperation,
  startOrAwait,
  type NewTransfer,
  type Run,
  type Treasury,
} from "./treasury-operation";

/**
 * An upper bound of the gas that a public exit uses to verify the proof, to mark the note as
 * spent, and to pay out through the processor.
 */
const EXIT_GAS = 700_000n;
/**
 * Stands for the call of an exit in gas estimates. It goes to an address without code, and its data
 * has the length of the longest exit's data.
 */
const PLACEHOLDER: Call = {
  to: "0x000000000000000000000000000000000000dEaD",
  data: `0x${"11".repeat(640)}`,
  value: 0n,
};

export interface ExitInput {
  readonly chainId: number;
  readonly noteId: string;
  readonly privacyWalletId?: string | undefined;
}

export interface PossibleExit {
  readonly privacyWalletId: string;
  readonly note: PrivateNote;
  readonly leaving: boolean;
}

interface LeavingNote {
  readonly pool: PrivacyPool;
  readonly wallet: PrivateWallet;
  readonly note: PrivateNote;
}

/**
 * Finds the note that is to leave by the public exit, and its pool.
 * @throws DomainError `note_spent`; `invalid_state` when the note can be spent privately
 */
const leavingNoteOf = async (
  context: PrivacyContext,
  wallet: PrivateWallet,
  { chainId, noteId }: { readonly chainId: number; readonly noteId: string },
): Promise<LeavingNote> => {
  // The notes in use are read before the wallet's notes. When an operation ends between the two
  // reads, the wallet's notes show its effect.
  const used = await context.repository.notesInUse(wallet.projectId, chainId);
  if (used.has(noteId)) throw noteInUse();
  const held = await context.holdings(context.privateWallets.keyOf(wallet), chainId);
  const note = held.notes.find(({ id }) => id === noteId);
  if (note === undefined) throw noteUnknown();
  if (note.state === "approved") throw noteIsApproved();
  return { wallet, note, pool: await context.poolOf(chainId, note.token.address, "noteId") };
};

const requestOf = ({ pool, note }: LeavingNote, recipient: EvmAddress): RouteRequest => ({
  sources: [{ owner: pool.address, token: note.token, amountBase: note.valueBase }],
  destination: { token: note.token, recipient },
  slippageBps: 0,
});

const legOf = (
  venue: string,
  { token, valueBase }: PrivateNote,
  plan: ExitLegPlan,
): RouteLeg => ({
  provider: PRIVACY_PROVIDER,
  sourceIndex: 0,
  kind: "transfer",
  expectedOutBase: valueBase,
  minOutBase: valueBase,
  steps: [
    {
      kind: "transfer",
      venue,
      from: token,
      to: token,
      amountInBase: valueBase,
      amountOutBase: valueBase,
    },
  ],
  fees: [],
  estimatedSeconds: ESTIMATED_SECONDS,
  priceImpactBps: 0,
  plan: toStored(plan),
});

/**
 * Estimates the exit's gas without a proof, because on a busy machine a proof takes too long for a
 * request.
 */
const estimateGas = async (
  context: PrivacyContext,
  treasury: Treasury,
  at: { readonly chainId: number; readonly legId: string },
): Promise<UserOperationGas> => {
  const { gas } = await context.smartAccounts.simulate(
    { account: treasury, ...at, calls: [PLACEHOLDER] },
    [],
  );
  return { ...gas, callGasLimit: gas.callGasLimit + EXIT_GAS };
};

/**
 * Makes the proof of an exit, and simulates its calls. The driver calls this when it builds the
 * leg.
 */
const exitCalls = async (
  context: PrivacyContext,
  { plan, request }: Parameters<ExitCalls>[0],
  signal: AbortSignal,
): Promise<readonly Call[]> => {
  const { engine, smartAccounts, privateWallets } = context;
  const [source] = request.sources;
  if (source === undefined) throw new Error("A public exit has no source.");
  const { token } = source;
  const { chainId } = token;
  const treasury = await requireTreasury(context, plan.projectId);
  const wallet = privateWallets.keyOf(
    await privateWallets.find(plan.projectId, plan.walletId, "privacyWalletId"),
  );
  const noteId = plan.commitment.toString();
  try {
    const exit = { chainId, token, wallet, noteId, owner: request.destination.recipient };
    const { calls } = await engine.exit(exit, signal);
    await smartAccounts.simulate(
      { account: treasury, chainId, legId: newId("leg"), calls: [...calls] },
      [],
    );
    return calls;
  } catch (error) {
    if (error instanceof NoteGoneError) throw noteUnknown();
    if (error instanceof NotReadyError)
      throw new DomainError(
        "chain_unavailable",
        "The chain's node has not seen the note yet. Nothing was sent; try again shortly.",
      );
    throw error;
  }
};

/**
 * Stores the exit as a running operation with one leg.
 * @throws DomainError `note_spent` when another operation withdraws the note
 */
const startRun = async (
  context: PrivacyContext,
  actor: Actor,
  leaving: LeavingNote,
  run: Run,
): Promise<boolean> => {
  const { pool, note, wallet } = leaving;
  const { projectId } = actor;
  const { chainId } = pool;
  const treasury = await requireTreasury(context, projectId);
  if (run.why === "approved")
    await requireUnfrozenMove(context, requestOf(leaving, treasury.address));
  const legId = newId("leg");
  const gas = await estimateGas(context, treasury, { chainId, legId });
  context.sponsorship.checkGas({ chainId, kind: "swap", gas });
  const commitment = BigInt(note.id);
  const plan: ExitLegPlan = {
    kind: "public_exit",
    projectId,
    walletId: wallet.id,
    pool: pool.address,
    commitment,
  };
  const routeLeg = legOf(context.engine.name, note, plan);
  try {
    return await runOperation(context, actor, run, {
      treasury,
      request: requestOf(leaving, treasury.address),
      recipients: [treasury.address],
      leg: { legId, routeLeg, via: "user_operation", takesMoney: false, gas },
      claim: (tx, operationId) =>
        context.repository.claimExit(tx, {
          projectId,
          walletId: wallet.id,
          chainId,
          noteId: note.id,
          operationId,
        }),
    });
  } catch (error) {
    if (error instanceof TakenError) throw noteInUse();
    throw error;
  }
};

const list = async (
  context: PrivacyContext,
  actor: Actor,
  walletId: string | undefined,
): Promise<PossibleExit[]> => {
  const { privateWallets } = context;
  const chosen = await privateWallets.choose(actor, walletId);
  const wallets =
    walletId === undefined ? await privateWallets.list(actor.projectId) : [chosen];
  const found: PossibleExit[] = [];
  for (const { id: chainId } of context.registry.list()) {
    if ((await context.engine.pools(chainId)).length === 0) continue;
    const used = await context.repository.notesInUse(actor.projectId, chainId);
    for (const wallet of wallets) {
      const { notes } = await context.holdings(privateWallets.keyOf(wallet), chainId);
      for (const note of notes.filter(({ state }) => state !== "approved"))
        found.push({ privacyWalletId: wallet.id, note, leaving: used.has(note.id) });
    }
  }
  return found;
};

/**
 * Withdraws a note that is not in the association set to the treasury by the pool's public exit, at
 * once or once approved. The driver makes the proof when it builds the leg. The proof names only
 * its note, so later changes of the pool do not invalidate it.
 * @param own `retryOf`: the failed operation that this one repeats
 * @returns the id of the private transfer
 * @throws DomainError `note_spent`, `invalid_state`, `simulation_failed`, …
 */
const create = async (
  context: PrivacyContext,
  actor: Actor,
  input: ExitInput,
  own: { readonly idempotency: IdempotentRequest | null; readonly retryOf: string | null },
): Promise<string> => {
  context.registry.get(input.chainId);
  const wallet = await context.privateWallets.choose(actor, input.privacyWalletId);
  const leaving = await leavingNoteOf(context, wallet, input);
  const { note, pool } = leaving;
  const { projectId } = actor;
  const { address } = await requireTreasury(context, projectId);
  await requireUnfrozenMove(context, requestOf(leaving, address));
  const transfer = {
    projectId,
    id: newId("transfer"),
    kind: "public_exit",
    walletId: wallet.id,
    toWalletId: null,
    toAddress: address,
    chainId: pool.chainId,
    token: note.token,
    tokenOut: note.token,
    amountBase: note.valueBase,
    noteId: note.id,
    path: null,
    minimumBase: null,
    digest: digestOf([
      "public_exit",
      projectId,
      wallet.id,
      pool.chainId,
      note.id,
      note.valueBase,
      address,
    ]),
    ...idempotencyColumns(own.idempotency),
    createdBy: actorName(actor),
    createdAt: context.clock.now(),
  } as const;
  const run = { why: "new", transfer, retryOf: own.retryOf } as const;
  await startOrAwait(context, actor, run, {
    start: () => startRun(context, actor, leaving, run),
    awaiting: (treasury) => ({
      request: requestOf(leaving, treasury.address),
      recipients: [treasury.address],
      expectedBase: note.valueBase,
    }),
    lines: approvalLines(context, transfer),
  });
  return transfer.id;
};

/** Runs an exit that awaited approval. Returns false when it no longer awaits approval. */
const approve = async (
  context: PrivacyContext,
  actor: Actor,
  transfer: PrivateTransfer,
  consent: Consent,
): Promise<boolean> => {
  const { projectId, walletId, chainId, noteId } = transfer;
  const wallet = await context.privateWallets.find(projectId, walletId, "privacyWalletId");
  const leaving = await leavingNoteOf(context, wallet, { chainId, noteId: noteId ?? "" });
  return startRun(context, actor, leaving, { why: "approved", transfer, consent });
};

const approvalLines = (
  { registry }: PrivacyContext,
  { token, amountBase, chainId, toAddress }: NewTransfer,
): string[] => {
  const amount = `${formatAmount(amountBase, token.decimals)} ${token.symbol}`;
  return [
    `You take out of a privacy pool, in public: ${amount} on ${registry.get(chainId).name}`,
    `To: the treasury, ${toAddress ?? ""}`,
  ];
};

export const publicExits = { create, approve, approvalLines, list, exitCalls };
