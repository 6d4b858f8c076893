import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount, parseAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { toDecimal, toBigInt } from "@/lib/db/decimal";
import { doneBy } from "@/lib/modules/audit/service";
import type { PrivacyPool } from "@/lib/ports/privacy";
import type { RouteLeg, RouteRequest } from "@/lib/ports/routing";
import { storedToken, toStored } from "@/lib/ports/routing-json";
import { digestOf, type PrivacyContext } from "./context";
import { belowMinimum } from "./errors";
import type { Once } from "./once";
import { TakenError, type NewTransfer, type TransferRow } from "./repository";
import type { ShieldLegPlan } from "./shield-routing";
import type { PrivacyWalletRow } from "./wallet-repository";

const APPROVAL_SECONDS = 24 * 3600;
const TRIES_MAX = 5;
const ESTIMATED_SECONDS = 5;

export interface ShieldInput {
  readonly chainId: number;
  readonly token: string;
  readonly amount: string;
  readonly privacyWalletId?: string | undefined;
}

/** How it comes to run: at once, or as one that was stored when it awaited approval. */
export interface Run {
  readonly transfer: NewTransfer | TransferRow;
  readonly isStored: boolean;
  readonly codeId: string | null;
  readonly retryOf: string | null;
}

interface Asked {
  readonly pool: PrivacyPool;
  readonly amountBase: bigint;
  readonly wallet: PrivacyWalletRow;
}

const treasuryMissing = (): DomainError => new DomainError("unknown_wallet", "The project has no treasury yet.");

/** Deposits from the treasury into a pool: a leg as others are, which the driver of operations carries out. */
export const createShielding = (context: PrivacyContext) => {
  const { repository, engine, operations, accounts, clock, privateWallets } = context;

  const treasuryOf = async (projectId: string) => {
    const treasury = await context.wallets.treasury(projectId);
    if (treasury === null || treasury.ownerAddress === null) throw treasuryMissing();
    return { ...treasury, ownerAddress: treasury.ownerAddress };
  };

  const requestOf = (owner: `0x${string}`, token: Token, pool: PrivacyPool, amountBase: bigint): RouteRequest => ({
    sources: [{ owner, token, amountBase }],
    destination: { token, recipient: pool.address },
    slippageBps: 0,
  });

  const noteOf = (pool: PrivacyPool, amountBase: bigint): bigint =>
    amountBase - (amountBase * BigInt(pool.shieldFeeBps)) / 10_000n;

  const legOf = (pool: PrivacyPool, amountBase: bigint, plan: ShieldLegPlan): RouteLeg => {
    const noteBase = noteOf(pool, amountBase);
    const { token } = pool;
    return {
      sourceIndex: 0,
      kind: "transfer",
      expectedOutBase: noteBase,
      minOutBase: noteBase,
      steps: [
        {
          kind: "transfer",
          venue: engine.name,
          from: token,
          to: token,
          amountInBase: amountBase,
          amountOutBase: noteBase,
        },
      ],
      fees: [],
      estimatedSeconds: ESTIMATED_SECONDS,
      priceImpactBps: 0,
      plan: toStored(plan),
    };
  };

  /** One try to make it run; the deposit number may be taken meanwhile. @throws TakenError */
  const tryRun = async (actor: Actor, asked: Asked, own: Run) => {
    const { pool, amountBase, wallet } = asked;
    const { transfer, isStored } = own;
    const { chainId, token } = pool;
    const { projectId } = actor;
    const key = privateWallets.keyOf(wallet);
    const treasury = await treasuryOf(projectId);
    const [number = 0] = await context.freeNumbers({ projectId, key, pool }, 1);
    const { calls, precommitment } = await engine.shield({
      chainId,
      token,
      amountBase,
      slot: { wallet: key, index: number },
    });
    const legId = newId("leg");
    const account = { address: treasury.address, ownerAddress: treasury.ownerAddress };
    const { gas } = await accounts.simulate({ account, chainId, legId, calls }, []);
    context.sponsorship.checkGas({ chainId, kind: "swap", gas });
    const plan: ShieldLegPlan = {
      kind: "shield",
      pool: pool.address,
      precommitment: BigInt(precommitment),
      calls: [...calls],
    };
    const admit = isStored ? null : await context.admission(actor, token, amountBase);
    return operations.start({
      projectId,
      ...(isStored ? { operationId: transfer.operationId } : {}),
      kind: "shield",
      createdBy: actorName(actor),
      origin: { quoteId: transfer.id, transferId: transfer.id, retryOf: own.retryOf },
      request: requestOf(treasury.address, token, pool, amountBase),
      wallets: [treasury],
      legs: [{ legId, routeLeg: legOf(pool, amountBase, plan), via: "user_operation", gas }],
      claim: async (tx, operationId) => {
        if (admit !== null && !(await admit(tx))) throw new AwaitsApproval();
        await repository.takeSlot(
          tx,
          { projectId, chainId, operationId },
          { walletId: wallet.id, pool: pool.address, number },
        );
        if (isStored) return true;
        await context.claimRetry(tx, own.retryOf, operationId);
        await repository.insertTransfer(tx, { ...(transfer as NewTransfer), operationId });
        return true;
      },
      audit: {
        ...doneBy(actor),
        action: isStored ? "operation.approved" : "operation.executed",
        data: {
          kind: "shield",
          transferId: transfer.id,
          means: own.codeId === null ? "policy" : "code",
          codeId: own.codeId,
        },
      },
    });
  };

  const run: typeof tryRun = async (actor, asked, own) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await tryRun(actor, asked, own);
      } catch (error) {
        if (!(error instanceof TakenError) || tries === TRIES_MAX) throw error;
      }
    }
  };

  const letWait = async (
    actor: Actor,
    { pool, amountBase }: Asked,
    { transfer, retryOf }: { transfer: NewTransfer; retryOf: string | null },
  ) => {
    const treasury = await treasuryOf(actor.projectId);
    return operations.startAwaiting({
      projectId: actor.projectId,
      kind: "shield",
      createdBy: actorName(actor),
      origin: { quoteId: transfer.id, transferId: transfer.id, retryOf },
      request: requestOf(treasury.address, pool.token, pool, amountBase),
      wallets: [treasury],
      expectedBase: noteOf(pool, amountBase),
      minimumBase: noteOf(pool, amountBase),
      expiresAt: addSeconds(clock.now(), APPROVAL_SECONDS),
      claim: async (tx, operationId) => {
        await context.claimRetry(tx, retryOf, operationId);
        await repository.insertTransfer(tx, { ...transfer, operationId });
      },
    });
  };

  return {
    /** @throws DomainError `below_pool_minimum`, `unknown_pool`, `insufficient_balance`, … */
    create: async (actor: Actor, input: ShieldInput, once: Once | null, retryOf: string | null = null) => {
      const pool = await context.poolOf(input.chainId, input.token, "token");
      const amountBase = parseAmount(input.amount, pool.token.decimals);
      if (amountBase < pool.minimumBase) throw belowMinimum(pool.token, pool.minimumBase);
      const wallet = await privateWallets.choose(actor, input.privacyWalletId);
      const asked = { pool, amountBase, wallet };
      const transfer: NewTransfer = {
        projectId: actor.projectId,
        id: newId("transfer"),
        operationId: "",
        kind: "shield",
        walletId: wallet.id,
        chainId: pool.chainId,
        token: toStored(pool.token),
        tokenOut: toStored(pool.token),
        amountBase: toDecimal(amountBase),
        digest: digestOf(["shield", actor.projectId, wallet.id, pool.chainId, pool.address, amountBase]),
        ...(once === null ? {} : { idempotencyKey: once.key, requestDigest: once.digest }),
        createdBy: actorName(actor),
        createdAt: clock.now(),
      };
      if (context.policies.needsCode(actor)) await letWait(actor, asked, { transfer, retryOf });
      else
        await run(actor, asked, { transfer, isStored: false, codeId: null, retryOf }).catch((error: unknown) => {
          if (error instanceof AwaitsApproval) return letWait(actor, asked, { transfer, retryOf });
          throw error;
        });
      return transfer.id;
    },

    /** Lets a shield run that awaited approval. False when it awaits approval no more. */
    approve: async (actor: Actor, transfer: TransferRow, codeId: string): Promise<boolean> => {
      const token = storedToken.parse(transfer.token);
      const pool = await context.poolOf(transfer.chainId, token.address, "token");
      const wallet = await privateWallets.find(transfer.projectId, transfer.walletId, "privacyWalletId");
      const asked = { pool, amountBase: toBigInt(transfer.amountBase), wallet };
      return (await run(actor, asked, { transfer, isStored: true, codeId, retryOf: null })) !== null;
    },

    lines: (transfer: TransferRow): string[] => {
      const token = storedToken.parse(transfer.token);
      const amount = `${formatAmount(toBigInt(transfer.amountBase), token.decimals)} ${token.symbol}`;
      return [`You make private: ${amount} of the treasury on ${context.registry.get(transfer.chainId).name}`];
    },
  };
};

/** The key's cap does not carry it. */
export class AwaitsApproval extends Error {}
