import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { doneBy } from "@/lib/modules/audit/service";
import { NoteGoneError, NotReadyError, type PrivacyPool, type PrivateNote } from "@/lib/ports/privacy";
import type { UserOperationGas } from "@/lib/ports/bundler";
import type { Call, EvmAddress, RouteLeg, RouteRequest } from "@/lib/ports/routing";
import { storedToken, toStored } from "@/lib/ports/routing-json";
import { digestOf, type PrivacyContext } from "./context";
import { noteInUse, noteIsApproved, noteUnknown } from "./errors";
import type { Once } from "./once";
import { TakenError, type NewTransfer, type TransferRow } from "./repository";
import type { ExitCalls, ExitLegPlan } from "./shield-routing";
import { AwaitsApproval, type Run } from "./shielding";
import type { PrivacyWalletRow } from "./wallet-repository";

const APPROVAL_SECONDS = 24 * 3600;
const ESTIMATED_SECONDS = 5;
/** More than any public exit uses: checking the proof, marking the note, and paying out through the processor. */
const EXIT_GAS = 700_000n;
/** A call as long as the longest exit, to an address without code. */
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

interface Asked {
  readonly pool: PrivacyPool;
  readonly wallet: PrivacyWalletRow;
  readonly note: PrivateNote;
}

/**
 * Takes notes that are not in the association set back to the treasury, by the pool's public exit: a leg of the treasury, which the
 * driver of operations carries out. It makes the proof when it builds the leg. The proof names its note alone, so nothing that happens
 * meanwhile makes it worthless.
 */
export const createExiting = (context: PrivacyContext) => {
  const { repository, engine, operations, accounts, clock, privateWallets } = context;

  const treasuryOf = async (projectId: string) => {
    const treasury = await context.wallets.treasury(projectId);
    if (treasury === null || treasury.ownerAddress === null)
      throw new DomainError("unknown_wallet", "The project has no treasury yet.");
    return { ...treasury, ownerAddress: treasury.ownerAddress };
  };

  /** @throws DomainError `note_spent`, `invalid_state` where the note can be spent in private */
  const noteOf = async (wallet: PrivacyWalletRow, chainId: number, noteId: string): Promise<Asked> => {
    // Read before the notes: an operation that ended in between is seen in them.
    const used = await repository.notesInUse(wallet.projectId, chainId);
    if (used.has(noteId)) throw noteInUse();
    const held = await context.holdings(privateWallets.keyOf(wallet), chainId);
    const note = held.notes.find(({ id }) => id === noteId);
    if (note === undefined) throw noteUnknown();
    if (note.state === "approved") throw noteIsApproved();
    return { wallet, note, pool: await context.poolOf(chainId, note.token.address, "noteId") };
  };

  const requestOf = ({ pool, note }: Asked, recipient: `0x${string}`): RouteRequest => ({
    sources: [{ owner: pool.address, token: note.token, amountBase: note.valueBase }],
    destination: { token: note.token, recipient },
    slippageBps: 0,
  });

  const legOf = ({ note }: Asked, plan: ExitLegPlan): RouteLeg => ({
    sourceIndex: 0,
    kind: "transfer",
    expectedOutBase: note.valueBase,
    minOutBase: note.valueBase,
    steps: [
      {
        kind: "transfer",
        venue: engine.name,
        from: note.token,
        to: note.token,
        amountInBase: note.valueBase,
        amountOutBase: note.valueBase,
      },
    ],
    fees: [],
    estimatedSeconds: ESTIMATED_SECONDS,
    priceImpactBps: 0,
    plan: toStored(plan),
  });

  /** A proof waits for others and takes as long as the machine is busy, so that no request waits for one. */
  const estimate = async (
    treasury: { readonly address: EvmAddress; readonly ownerAddress: EvmAddress },
    at: { readonly chainId: number; readonly legId: string },
  ): Promise<UserOperationGas> => {
    const { gas } = await accounts.simulate({ account: treasury, ...at, calls: [PLACEHOLDER] }, []);
    return { ...gas, callGasLimit: gas.callGasLimit + EXIT_GAS };
  };

  const callsOf: ExitCalls = async ({ plan, request }, signal) => {
    const [source] = request.sources;
    if (source === undefined) throw new Error("A public exit has no source.");
    const { token } = source;
    const { chainId } = token;
    const treasury = await treasuryOf(plan.projectId);
    const wallet = privateWallets.keyOf(await privateWallets.find(plan.projectId, plan.walletId, "privacyWalletId"));
    const noteId = plan.commitment.toString();
    try {
      const exit = { chainId, token, wallet, noteId, owner: request.destination.recipient };
      const { calls } = await engine.exit(exit, signal);
      await accounts.simulate({ account: treasury, chainId, legId: newId("leg"), calls: [...calls] }, []);
      return calls;
    } catch (error) {
      if (error instanceof NoteGoneError) throw noteUnknown();
      if (error instanceof NotReadyError)
        throw new DomainError("chain_unavailable", "The chain's node has not seen the note yet. Nothing was sent.");
      throw error;
    }
  };

  const run = async (actor: Actor, asked: Asked, own: Run) => {
    const { pool, note, wallet } = asked;
    const { transfer, isStored, codeId } = own;
    const { projectId } = actor;
    const { chainId } = pool;
    const treasury = await treasuryOf(projectId);
    const legId = newId("leg");
    const gas = await estimate(treasury, { chainId, legId });
    context.sponsorship.checkGas({ chainId, kind: "swap", gas });
    const plan: ExitLegPlan = {
      kind: "public_exit",
      projectId,
      walletId: wallet.id,
      pool: pool.address,
      commitment: BigInt(note.id),
    };
    const admit = isStored ? null : await context.admission(actor, note.token, note.valueBase);
    return operations.start({
      projectId,
      ...(isStored ? { operationId: transfer.operationId } : {}),
      kind: "public_exit",
      createdBy: actorName(actor),
      origin: { quoteId: transfer.id, transferId: transfer.id, retryOf: own.retryOf },
      request: requestOf(asked, treasury.address),
      wallets: [treasury],
      legs: [{ legId, routeLeg: legOf(asked, plan), via: "user_operation", takesMoney: false, gas }],
      claim: async (tx, operationId) => {
        if (admit !== null && !(await admit(tx))) throw new AwaitsApproval();
        await repository.claimExit(tx, { projectId, walletId: wallet.id, chainId, noteId: note.id, operationId });
        if (isStored) return true;
        await context.claimRetry(tx, own.retryOf, operationId);
        await repository.insertTransfer(tx, { ...(transfer as NewTransfer), operationId });
        return true;
      },
      audit: {
        ...doneBy(actor),
        action: isStored ? "operation.approved" : "operation.executed",
        data: { kind: "public_exit", transferId: transfer.id, means: codeId === null ? "policy" : "code", codeId },
      },
    });
  };

  const orInUse = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof TakenError) throw noteInUse();
      throw error;
    }
  };

  const letWait = async (
    actor: Actor,
    asked: Asked,
    { transfer, retryOf }: { transfer: NewTransfer; retryOf: string | null },
  ) => {
    const treasury = await treasuryOf(actor.projectId);
    return operations.startAwaiting({
      projectId: actor.projectId,
      kind: "public_exit",
      createdBy: actorName(actor),
      origin: { quoteId: transfer.id, transferId: transfer.id, retryOf },
      request: requestOf(asked, treasury.address),
      wallets: [treasury],
      expectedBase: asked.note.valueBase,
      minimumBase: asked.note.valueBase,
      expiresAt: addSeconds(clock.now(), APPROVAL_SECONDS),
      claim: async (tx, operationId) => {
        await context.claimRetry(tx, retryOf, operationId);
        await repository.insertTransfer(tx, { ...transfer, operationId });
      },
    });
  };

  return {
    callsOf,

    /** Notes of the project, or of one private wallet, that are not in an association set. */
    list: async (actor: Actor, walletId: string | undefined): Promise<PossibleExit[]> => {
      const chosen = await privateWallets.choose(actor, walletId);
      const wallets = walletId === undefined ? await privateWallets.list(actor.projectId) : [chosen];
      const found: PossibleExit[] = [];
      for (const { id: chainId } of context.registry.list()) {
        if ((await engine.pools(chainId)).length === 0) continue;
        const used = await repository.notesInUse(actor.projectId, chainId);
        for (const wallet of wallets) {
          const { notes } = await context.holdings(privateWallets.keyOf(wallet), chainId);
          for (const note of notes.filter(({ state }) => state !== "approved"))
            found.push({ privacyWalletId: wallet.id, note, leaving: used.has(note.id) });
        }
      }
      return found;
    },

    /** @throws DomainError `note_spent`, `invalid_state`, `simulation_failed`, … */
    create: async (
      actor: Actor,
      input: ExitInput,
      once: Once | null,
      retryOf: string | null = null,
    ): Promise<string> => {
      context.registry.get(input.chainId);
      const wallet = await privateWallets.choose(actor, input.privacyWalletId);
      const asked = await noteOf(wallet, input.chainId, input.noteId);
      const { note, pool } = asked;
      const { address } = await treasuryOf(actor.projectId);
      const transfer: NewTransfer = {
        projectId: actor.projectId,
        id: newId("transfer"),
        operationId: "",
        kind: "public_exit",
        walletId: wallet.id,
        toAddress: address,
        chainId: pool.chainId,
        token: toStored(note.token),
        tokenOut: toStored(note.token),
        amountBase: toDecimal(note.valueBase),
        noteId: note.id,
        digest: digestOf(["public_exit", actor.projectId, wallet.id, pool.chainId, note.id, note.valueBase, address]),
        ...(once === null ? {} : { idempotencyKey: once.key, requestDigest: once.digest }),
        createdBy: actorName(actor),
        createdAt: clock.now(),
      };
      if (context.policies.needsCode(actor)) await letWait(actor, asked, { transfer, retryOf });
      else
        await orInUse(run(actor, asked, { transfer, isStored: false, codeId: null, retryOf })).catch(
          (error: unknown) => {
            if (error instanceof AwaitsApproval) return letWait(actor, asked, { transfer, retryOf });
            throw error;
          },
        );
      return transfer.id;
    },

    /** Lets an exit run that awaited approval. False when it awaits approval no more. */
    approve: async (actor: Actor, transfer: TransferRow, codeId: string): Promise<boolean> => {
      const wallet = await privateWallets.find(transfer.projectId, transfer.walletId, "privacyWalletId");
      const asked = await noteOf(wallet, transfer.chainId, transfer.noteId ?? "");
      return (await orInUse(run(actor, asked, { transfer, isStored: true, codeId, retryOf: null }))) !== null;
    },

    lines: (transfer: TransferRow): string[] => {
      const token = storedToken.parse(transfer.token);
      const amount = `${formatAmount(toBigInt(transfer.amountBase), token.decimals)} ${token.symbol}`;
      return [
        `You take out of a privacy pool, in public: ${amount} on ${context.registry.get(transfer.chainId).name}`,
        `To: the treasury, ${transfer.toAddress ?? ""}`,
      ];
    },
  };
};
