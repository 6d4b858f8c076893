import { type Actor, actorName } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { formatAmount, parseAmount } from "@/lib/core/money";
import type { PrivacyPool } from "@/lib/money/ports/privacy";
import type { EvmAddress } from "@/lib/core/evm";
import type { RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import { toStored } from "@/lib/platform/db/codecs";
import {
  type Consent,
  digestOf,
  type PrivacyContext,
  requireUnfrozenMove,
  retryWhenTaken,
} from "./context";
import { belowMinimum } from "./errors";
import { idempotencyColumns, type IdempotentRequest } from "@/lib/platform/db/idempotency-keys";
import { PRIVACY_PROVIDER, type ShieldLegPlan } from "./leg-routing";
import { type PrivateTransfer, type PrivateWallet, recipientsOf } from "./rows";
import {
  ESTIMATED_SECONDS,
  requireTreasury,
  runOperation,
  startOrAwait,
  type NewTransfer,
  type Run,
} from "./treasury-operation";

export interface ShieldInput {
  readonly chainId: number;
  readonly token: string;
  /** Decimal, in units of the token. */
  readonly amount: string;
  readonly privacyWalletId?: string | undefined;
}

interface Deposit {
  readonly pool: PrivacyPool;
  readonly amountBase: bigint;
  readonly wallet: PrivateWallet;
}

const requestOf = (owner: EvmAddress, { pool, amountBase }: Deposit): RouteRequest => ({
  sources: [{ owner, token: pool.token, amountBase }],
  destination: { token: pool.token, recipient: pool.address },
  slippageBps: 0,
});

/** The value of the new note. The pool rounds its fee down. */
const noteBaseOf = ({ pool, amountBase }: Deposit): bigint =>
  amountBase - (amountBase * BigInt(pool.shieldFeeBps)) / 10_000n;

const legOf = (venue: string, deposit: Deposit, plan: ShieldLegPlan): RouteLeg => {
  const noteBase = noteBaseOf(deposit);
  const { token } = deposit.pool;
  const amounts = { amountInBase: deposit.amountBase, amountOutBase: noteBase };
  return {
    provider: PRIVACY_PROVIDER,
    sourceIndex: 0,
    kind: "transfer",
    expectedOutBase: noteBase,
    minOutBase: noteBase,
    steps: [{ kind: "transfer", venue, from: token, to: token, ...amounts }],
    fees: [],
    estimatedSeconds: ESTIMATED_SECONDS,
    priceImpactBps: 0,
    plan: toStored(plan),
  };
};

/**
 * One attempt to start a shield.
 * @throws TakenError when another operation used the deposit number since it was read
 */
const tryRun = async (
  context: PrivacyContext,
  actor: Actor,
  deposit: Deposit,
  run: Run,
): Promise<boolean> => {
  const { repository, engine } = context;
  const { pool, amountBase, wallet } = deposit;
  const { chainId, token } = pool;
  const { projectId } = actor;
  const key = context.privateWallets.keyOf(wallet);
  const treasury = await requireTreasury(context, projectId);
  if (run.why === "approved")
    await requireUnfrozenMove(context, requestOf(treasury.address, deposit));
  const [number = 0] = await context.freeNumbers({ projectId, key, pool }, 1);
  const slot = { wallet: key, index: number };
  const { calls, precommitment } = await engine.shield({ chainId, token, amountBase, slot });
  const legId = newId("leg");
  const account = { address: treasury.address, ownerAddress: treasury.ownerAddress };
  const { gas } = await context.smartAccounts.simulate({ account, chainId, legId, calls }, []);
  context.sponsorship.checkGas({ chainId, kind: "swap", gas });
  const plan: ShieldLegPlan = {
    kind: "shield",
    pool: pool.address,
    precommitment: BigInt(precommitment),
    calls: [...calls],
  };
  return runOperation(context, actor, run, {
    treasury,
    request: requestOf(treasury.address, deposit),
    recipients: recipientsOf(wallet),
    leg: { legId, routeLeg: legOf(engine.name, deposit, plan), via: "user_operation", gas },
    claim: (tx, operationId) =>
      repository.takeSlot(
        tx,
        { projectId, chainId, operationId },
        { walletId: wallet.id, pool: pool.address, number },
      ),
  });
};

const depositOf = async (
  context: PrivacyContext,
  actor: Actor,
  input: ShieldInput,
): Promise<Deposit> => {
  const pool = await context.poolOf(input.chainId, input.token, "token");
  const amountBase = parseAmount(input.amount, pool.token.decimals);
  if (amountBase < pool.minimumBase) throw belowMinimum(pool.token, pool.minimumBase);
  const wallet = await context.privateWallets.choose(actor, input.privacyWalletId);
  return { pool, amountBase, wallet };
};

/**
 * Deposits from the treasury into a pool, at once or once approved.
 * @param own `retryOf`: the failed operation that this one repeats
 * @returns the id of the private transfer
 * @throws DomainError `below_pool_minimum`, `unknown_pool`, `insufficient_balance`, …
 */
const create = async (
  context: PrivacyContext,
  actor: Actor,
  input: ShieldInput,
  own: { readonly idempotency: IdempotentRequest | null; readonly retryOf: string | null },
): Promise<string> => {
  const deposit = await depositOf(context, actor, input);
  const { pool, amountBase, wallet } = deposit;
  const { projectId } = actor;
  const { address } = await requireTreasury(context, projectId);
  await requireUnfrozenMove(context, requestOf(address, deposit));
  const transfer = {
    projectId,
    id: newId("transfer"),
    kind: "shield",
    walletId: wallet.id,
    toWalletId: null,
    toAddress: null,
    chainId: pool.chainId,
    token: pool.token,
    tokenOut: pool.token,
    amountBase,
    noteId: null,
    path: null,
    minimumBase: null,
    digest: digestOf(["shield", projectId, wallet.id, pool.chainId, pool.address, amountBase]),
    ...idempotencyColumns(own.idempotency),
    createdBy: actorName(actor),
    createdAt: context.clock.now(),
  } as const;
  const run = { why: "new", transfer, retryOf: own.retryOf } as const;
  await startOrAwait(context, actor, run, {
    start: () => retryWhenTaken(() => tryRun(context, actor, deposit, run)),
    awaiting: () => ({
      request: requestOf(address, deposit),
      recipients: recipientsOf(wallet),
      expectedBase: noteBaseOf(deposit),
    }),
    lines: approvalLines(context, transfer),
  });
  return transfer.id;
};

/** Runs a shield that awaited approval. Returns false when it no longer awaits approval. */
const approve = async (
  context: PrivacyContext,
  actor: Actor,
  transfer: PrivateTransfer,
  consent: Consent,
): Promise<boolean> => {
  const { projectId, chainId, token, amountBase, walletId } = transfer;
  const pool = await context.poolOf(chainId, token.address, "token");
  const wallet = await context.privateWallets.find(projectId, walletId, "privacyWalletId");
  const run = { why: "approved", transfer, consent } as const;
  return retryWhenTaken(() => tryRun(context, actor, { pool, amountBase, wallet }, run));
};

const approvalLines = (
  { registry }: PrivacyContext,
  { token, amountBase, chainId }: NewTransfer,
): string[] => [
  `You make private: ${formatAmount(amountBase, token.decimals)} ${token.symbol} of the treasury on ${registry.get(chainId).name}`,
];

export const shields = { create, approve, approvalLines };
