import { type Actor, actorName } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { doneBy, type AuditData } from "@/lib/news/audit/service";
import type { LeglessOperation } from "@/lib/money/operations/service";
import { needsVotes, type Check, type Intent } from "@/lib/trust/policies/service";
import {
  chooseNotes,
  type FailedAmounts,
  intentOf,
  readSpendRequest,
  repriceSwap,
  requireAnonymitySet,
  spendDigest,
  type SpendInput,
  type SpendKind,
  type SpendRequest,
  storedSpendRequest,
} from "./spend-request";
import {
  admissionOf,
  APPROVAL_SECONDS,
  askForVotes,
  type Consent,
  digestOf,
  type PrivacyContext,
  requireUnfrozenMove,
  retryWhenTaken,
  votesFor,
} from "./context";
import { NotAdmittedError, noteInUse, TakenError, executeWithoutCode } from "./errors";
import { idempotencyColumns, type IdempotentRequest } from "@/lib/platform/db/idempotency-keys";
import type { PrivateTransfer } from "./rows";
import { type NewSpend, QUEUE } from "./repository";

interface Origin {
  readonly idempotency: IdempotentRequest | null;
  readonly quote:
    | (NonNullable<NewSpend["quote"]> & { readonly codeMeans: string | null })
    | null;
  /** The failed operation whose undelivered part the new operation pays. */
  readonly retryOf: string | null;
}

/** The paying pool, and the recipient: an address, or the pool of the new note. */
const moveOf = ({ pool, poolOut, toAddress }: SpendRequest) => ({
  sources: [{ token: pool.token, owner: pool.address }],
  destination: { token: poolOut.token, recipient: toAddress ?? poolOut.address },
});

interface NewIds {
  readonly id: string;
  readonly operationId: string;
}

const stored = (id: string | null): string => {
  if (id === null) throw new Error("A private operation was not stored.");
  return id;
};

/**
 * Chooses again when a concurrent operation has used the chosen notes or deposit numbers.
 * @throws DomainError `note_spent`
 */
const whileNotesAreTaken = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await retryWhenTaken(work);
  } catch (error) {
    if (error instanceof TakenError) throw noteInUse();
    throw error;
  }
};

/** How an operation that runs at once was approved, for the audit log. */
const consentTo = ({ quote }: Origin): AuditData =>
  quote === null || quote.codeId === null
    ? { means: "policy" }
    : { means: quote.codeMeans, codeId: quote.codeId };

const operationOf =
  (
    { clock }: PrivacyContext,
    actor: Actor,
    request: SpendRequest,
    own: NewIds & { readonly grossBase: bigint; readonly origin: Origin },
  ) =>
  (runs: boolean): LeglessOperation => {
    const { pool, poolOut, amountBase, swap, toAddress, kind } = request;
    return {
      id: own.operationId,
      projectId: actor.projectId,
      kind,
      queue: QUEUE,
      request: {
        sources: [{ owner: pool.address, token: pool.token, amountBase: own.grossBase }],
        destination: { token: poolOut.token, recipient: toAddress ?? poolOut.address },
        slippageBps: 0,
      },
      expectedBase: swap === null ? amountBase : swap.outBase,
      minimumBase: swap === null ? amountBase : swap.minimumBase,
      // Without the recipient, so that a search for an address finds no private operation.
      searchTerms: [
        `chain:${String(pool.chainId)}`,
        `token:${pool.token.symbol.toLowerCase()}`,
        own.id,
      ],
      createdBy: actorName(actor),
      approvalUntil: runs ? null : addSeconds(clock.now(), APPROVAL_SECONDS),
      retryOf: own.origin.retryOf,
      audit: {
        ...doneBy(actor),
        action: runs ? "operation.executed" : "operation.requested",
        data: { kind, ...(runs ? consentTo(own.origin) : {}) },
      },
    };
  };

const transferOf = (
  { clock }: PrivacyContext,
  actor: Actor,
  request: SpendRequest,
  { id, operationId, origin }: NewIds & { readonly origin: Origin },
): PrivateTransfer => {
  const { kind, wallet, pool, poolOut, amountBase, toAddress, toWallet, swap } = request;
  const { projectId } = actor;
  const approved = [
    kind,
    projectId,
    wallet.id,
    pool.chainId,
    pool.address,
    poolOut.address,
    amountBase,
  ];
  return {
    projectId,
    id,
    operationId,
    kind,
    walletId: wallet.id,
    toWalletId: toWallet?.id ?? null,
    toAddress,
    chainId: pool.chainId,
    token: pool.token,
    tokenOut: poolOut.token,
    amountBase,
    noteId: null,
    path: swap?.path ?? null,
    minimumBase: swap?.minimumBase ?? null,
    digest: digestOf([...approved, toAddress, toWallet?.id, swap]),
    ...idempotencyColumns(origin.idempotency),
    createdBy: actorName(actor),
    createdAt: clock.now(),
  };
};

interface PreparedSpend {
  readonly actor: Actor;
  readonly intent: Intent;
  readonly spend: NewSpend;
  readonly token: Token;
  readonly grossBase: bigint;
}

/**
 * Stores an operation that runs at once.
 * @returns false when the quote was used already; null when the operation needs approval first, and
 * nothing is stored
 * @throws DomainError `invalid_state` for a quote that a code has approved and that needs votes
 */
const runNow = async (
  context: PrivacyContext,
  { actor, intent, spend, token, grossBase }: PreparedSpend,
): Promise<boolean | null> => {
  const { policies, policyEngine, repository } = context;
  const { transfer, steps, quote } = spend;
  const isApproved = quote !== null && quote.codeId !== null;
  if (!isApproved && policies.needsCode(actor)) return null;
  const admit = isApproved
    ? () => Promise.resolve(true)
    : await context.admission(actor, token, grossBase);
  const subject = {
    type: "operation",
    id: transfer.operationId,
    digest: spendDigest(transfer, steps),
  } as const;
  const enforce = async (tx: Tx, check: Check): Promise<string> => {
    const evaluationId = (await admit(tx))
      ? await check.enforce(sqlOf(tx), subject, { hasCode: isApproved })
      : null;
    if (evaluationId === null) throw new NotAdmittedError();
    return evaluationId;
  };
  try {
    return await policyEngine.checking(intent, (check) =>
      repository.insertSpend(spend, (tx) => enforce(tx, check), context.clock.now()),
    );
  } catch (error) {
    if (isApproved && needsVotes(error)) throw executeWithoutCode();
    if (error instanceof NotAdmittedError || needsVotes(error)) return null;
    throw error;
  }
};

/**
 * Stores an operation that awaits a code or votes.
 * @returns false when the quote was used already
 */
const letWait = async (
  context: PrivacyContext,
  { actor, intent, spend }: PreparedSpend,
): Promise<boolean> => {
  const { transfer } = spend;
  const required = await votesFor(context, intent);
  const lines = approvalLines(context, transfer);
  const ask = async (tx: Tx): Promise<null> => {
    await askForVotes(context, tx, actor, { transfer, lines, required });
    return null;
  };
  return context.repository.insertSpend(spend, ask, context.clock.now());
};

/**
 * Stores the operation. It runs at once when the actor's policy allows that, or when a code has
 * approved its quote.
 * @returns the transfer's id; null when the quote was used already
 * @throws DomainError `insufficient_balance`, `note_spent`, `invalid_state`
 */
const start = (
  context: PrivacyContext,
  actor: Actor,
  request: SpendRequest,
  origin: Origin,
): Promise<string | null> =>
  whileNotesAreTaken(async () => {
    const [steps] = await Promise.all([
      chooseNotes(context, request),
      requireUnfrozenMove(context, moveOf(request)),
    ]);
    const ids = { id: newId("transfer"), operationId: newId("operation") };
    const grossBase = steps.reduce((sum, { withdrawBase }) => sum + withdrawBase, 0n);
    const { token, chainId } = request.pool;
    const { quote } = origin;
    const prepared: PreparedSpend = {
      ...{ actor, token, grossBase },
      intent: intentOf(actor, { ...request, token, chainId, grossBase }),
      spend: {
        operation: operationOf(context, actor, request, { ...ids, grossBase, origin }),
        transfer: transferOf(context, actor, request, { ...ids, origin }),
        steps,
        quote:
          quote === null
            ? null
            : { id: quote.id, walletId: quote.walletId, codeId: quote.codeId },
      },
    };
    const isStored = (await runNow(context, prepared)) ?? (await letWait(context, prepared));
    return isStored ? ids.id : null;
  });

/**
 * Pays an address or another private wallet out of notes.
 * @returns the transfer's id
 * @throws DomainError `small_anonymity_set`, `insufficient_balance`, `unknown_pool`,
 * `below_pool_minimum`, …
 */
const create = async (
  context: PrivacyContext,
  actor: Actor,
  input: SpendInput & { readonly kind: "unshield" | "private_transfer" },
  idempotency: IdempotentRequest | null,
): Promise<string> => {
  const request = await readSpendRequest(context, actor, input, input.kind);
  if (input.kind === "private_transfer")
    await requireAnonymitySet(context, request, input.acceptSmallSet === true);
  return stored(
    await start(context, actor, request, { idempotency, quote: null, retryOf: null }),
  );
};

const spendKindOf = ({ kind, id }: PrivateTransfer): SpendKind => {
  if (kind === "shield" || kind === "public_exit") throw new Error(`${id} spends no notes.`);
  return kind;
};

/**
 * Pays the failed part of an operation out of the current notes. That part may be below the pool's
 * minimum.
 * @returns the new transfer's id
 * @throws DomainError `insufficient_balance`, `no_route`, `quote_price_moved`, …
 */
const retry = async (
  context: PrivacyContext,
  actor: Actor,
  transfer: PrivateTransfer,
  failed: FailedAmounts,
): Promise<string> => {
  const request = await storedSpendRequest(context, spendKindOf(transfer), transfer);
  const swap = request.swap === null ? null : await repriceSwap(context, request, failed);
  const amountBase = swap === null ? failed.outBase : failed.withdrawBase;
  const origin = { idempotency: null, quote: null, retryOf: transfer.operationId };
  return stored(await start(context, actor, { ...request, amountBase, swap }, origin));
};

/**
 * Runs an operation that awaited approval, with the current notes. Returns false when it no longer
 * awaits approval.
 */
const approve = (
  context: PrivacyContext,
  actor: Actor,
  transfer: PrivateTransfer,
  consent: Consent,
): Promise<boolean> =>
  whileNotesAreTaken(async () => {
    const request = await storedSpendRequest(context, spendKindOf(transfer), transfer);
    const [steps] = await Promise.all([
      chooseNotes(context, request),
      requireUnfrozenMove(context, moveOf(request)),
    ]);
    const { kind } = transfer;
    const audit = {
      ...doneBy(actor),
      action: "operation.approved",
      data: { kind, ...consent },
    };
    const grossBase = steps.reduce((sum, { withdrawBase }) => sum + withdrawBase, 0n);
    const digest = spendDigest(transfer, steps);
    return context.policyEngine.checking(
      intentOf(actor, { ...transfer, grossBase, toWallet: request.toWallet }),
      (check) => {
        const enforce = async (tx: Tx): Promise<string> => {
          const subject = { type: "operation", id: transfer.operationId, digest } as const;
          const evaluationId = await check.enforce(sqlOf(tx), subject, admissionOf(consent));
          if (evaluationId === null)
            throw new Error("The operation was approved, and yet a code is needed.");
          return evaluationId;
        };
        return context.repository.approveSpend(
          transfer,
          steps,
          { audit, enforce },
          context.clock.now(),
        );
      },
    );
  });

const approvalLines = ({ registry }: PrivacyContext, transfer: PrivateTransfer): string[] => {
  const { token, tokenOut, minimumBase } = transfer;
  const amount = `${formatAmount(transfer.amountBase, token.decimals)} ${token.symbol}`;
  const chain = registry.get(transfer.chainId).name;
  if (minimumBase !== null)
    return [
      `You swap privately: ${amount} on ${chain}`,
      `You receive at least: ${formatAmount(minimumBase, tokenOut.decimals)} ${tokenOut.symbol}`,
    ];
  return [
    `You send privately: ${amount} on ${chain}`,
    `To: ${transfer.toAddress ?? transfer.toWalletId ?? ""}`,
  ];
};

export const spends = { start, create, retry, approve, approvalLines };
