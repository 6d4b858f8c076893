/** Compares the database with every chain, and allows signing when nothing is left that a person has to look at. */
import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { reconcileChain, type ChainReport } from "./reconcile-chain";
import type { ReconcileDeps } from "./reconcile-deps";
import type { SigningRepository } from "./repository";
import { lookNow } from "./service";
import type { UnknownMove } from "./state";

export interface ReconcilerDeps extends ReconcileDeps {
  readonly repository: SigningRepository;
  readonly clock: Clock;
}

export interface ReconcileRequest {
  /** Who runs it, for the audit log. */
  readonly by: string;
  /** The unknown moves that the person has looked at; `all`: every one that is found. */
  readonly accept: readonly string[] | "all";
  /** Why they are accepted. */
  readonly reason: string;
}

export interface ReconcileReport {
  readonly wasOff: boolean;
  readonly isAllowed: boolean;
  readonly chains: readonly ChainReport[];
  /** Moves that a person has not accepted. */
  readonly unknown: readonly UnknownMove[];
  readonly accepted: readonly UnknownMove[];
  /** Why signing is not allowed, beside unknown moves. */
  readonly faults: readonly string[];
}

const compareAll = async (deps: ReconcilerDeps, times: { seenAt: Date; offSince: Date | null }) => {
  const chains: ChainReport[] = [];
  const faults: string[] = [];
  for (const { id, name } of deps.registry.list()) {
    try {
      const report = await reconcileChain(deps, id, times);
      chains.push(report);
      if (report.waits !== null) faults.push(report.waits);
    } catch (error) {
      if (!isDomainError(error) || error.code !== "chain_unavailable") throw error;
      faults.push(`${name} does not answer. It has to be compared before anything is signed.`);
    }
  }
  return { chains, faults };
};

/** Not before everything is accepted: a transaction of the executor that no row knows is found by the nonce that the database lacks. */
const raiseNonces = async ({ known }: ReconcilerDeps, chains: readonly ChainReport[]): Promise<void> => {
  for (const { chainId, nonces } of chains)
    for (const { address, next } of nonces) await known.raiseNonce(chainId, address, next);
};

/**
 * Signing is allowed when every chain was compared and each unknown move was accepted, now or before. While signing is allowed already,
 * the comparison changes nothing.
 */
export const reconcile = async (deps: ReconcilerDeps, request: ReconcileRequest): Promise<ReconcileReport> => {
  const { repository, clock } = deps;
  const {
    present,
    stored: { seenAt, offSince },
  } = await lookNow(repository);
  const { chains, faults } = await compareAll(deps, { seenAt, offSince });
  const before = await repository.acceptedHashes();
  const found = chains.flatMap(({ unknown }) => unknown).filter(({ hash }) => !before.has(hash));
  const isNow = ({ hash, txHash }: UnknownMove): boolean =>
    request.accept === "all" || request.accept.includes(hash) || request.accept.includes(txHash);
  const decided = { by: request.by, reason: request.reason, at: clock.now() };
  const accepted = found.filter(isNow);
  if (accepted.length > 0) await repository.accept(accepted, decided);
  const unknown = found.filter((move) => !isNow(move));
  const passes = unknown.length === 0 && faults.length === 0;
  const wasOff = offSince !== null;
  if (passes && wasOff) await raiseNonces(deps, chains);
  if (passes && wasOff && !(await repository.allow(present, offSince, decided)))
    faults.push("Signing was stopped or allowed by somebody else meanwhile. Run it again.");
  const isAllowed = wasOff ? passes && faults.length === 0 : true;
  return { wasOff, isAllowed, chains, unknown, accepted, faults };
};
