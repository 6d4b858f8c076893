import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { type ChainReport, reconcileChain, type ReconcileDeps } from "./reconcile-chain";
import type { SigningRepository } from "./repository";
import { lookNow } from "./service";
import type { UnknownMove } from "./rows";
import { paymentsText } from "./state";

// Compares the database with every chain, and allows signing when nothing remains for a person to
// check.

interface ReconcilerDeps extends ReconcileDeps {
  readonly repository: SigningRepository;
  readonly clock: Clock;
}

export interface ReconcileRequest {
  /** The person who runs the comparison, for the audit log. */
  readonly by: string;
  /** The unknown movements that the person has checked; `all` accepts every one that is found. */
  readonly accept: readonly string[] | "all";
  readonly reason: string;
}

export interface ReconcileReport {
  readonly wasOff: boolean;
  readonly isAllowed: boolean;
  readonly chains: readonly ChainReport[];
  readonly unknown: readonly UnknownMove[];
  readonly accepted: readonly UnknownMove[];
  /** Reasons other than unknown movements why signing is not allowed. */
  readonly faults: readonly string[];
}

const compareAll = async (
  deps: ReconcilerDeps,
  times: { seenAt: Date; offSince: Date | null },
) => {
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

/**
 * Raises the stored nonces to the nonces of the chains. Called only when every unknown movement is
 * accepted, because an unknown transaction of the executor is found by its missing nonce.
 */
const raiseNonces = async (
  { known }: ReconcilerDeps,
  chains: readonly ChainReport[],
): Promise<void> => {
  for (const { chainId, nonces } of chains)
    for (const { address, next } of nonces) await known.raiseNonce(chainId, address, next);
};

/**
 * Compares every chain with the database, and stores the movements that the person accepts. Signing
 * is allowed when every chain was compared and each unknown movement was accepted, now or earlier.
 * While signing is allowed already, nothing else is changed.
 */
export const reconcile = async (
  deps: ReconcilerDeps,
  request: ReconcileRequest,
): Promise<ReconcileReport> => {
  const { repository, clock } = deps;
  const {
    present,
    stored: { seenAt, offSince },
  } = await lookNow(repository);
  const { chains, faults } = await compareAll(deps, { seenAt, offSince });
  const before = await repository.acceptedHashes();
  const found = chains
    .flatMap(({ unknown }) => unknown)
    .filter(({ hash }) => !before.has(hash));
  const isNow = ({ hash, txHash }: UnknownMove): boolean =>
    request.accept === "all" ||
    request.accept.includes(hash) ||
    request.accept.includes(txHash);
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

const chainLines = ({
  name,
  fromBlock,
  toBlock,
  executed,
  adopted,
  notes,
}: ChainReport): string[] => [
  `${name}: blocks ${String(fromBlock)} to ${String(toBlock)}, ${String(executed)} operations executed.`,
  ...adopted.map((row) => `  was executed already, and is followed to its end now: ${row}`),
  ...notes.map((note) => `  ${note}`),
];

const moveLines = ({
  chainId,
  hash,
  txHash,
  blockNumber,
  projectId,
  walletAddress,
  payments,
}: UnknownMove): string[] => [
  `  ${hash}`,
  `    chain ${String(chainId)}, block ${String(blockNumber)}, transaction ${txHash}`,
  `    project ${projectId ?? "not known"}, wallet ${walletAddress ?? "the executor"}`,
  `    paid: ${paymentsText(payments)}`,
];

const listed = (title: string, moves: readonly UnknownMove[]): string[] =>
  moves.length === 0 ? [] : ["", title, ...moves.flatMap(moveLines)];

const UNKNOWN =
  "Moves that the chains show and the database does not know. Compare them with your own records, tell those who asked for them that\n" +
  "they were made, and accept them (--accept HASH, or --accept-all, with --reason). For 30 days nobody whom they name is paid again.";

const conclusion = ({ wasOff, isAllowed, unknown, faults }: ReconcileReport): string => {
  if (!wasOff) return "Signing was allowed and stays so. Nothing was changed.";
  if (isAllowed) return "Signing is allowed. Accepted work goes on within seconds.";
  return `Signing stays off: ${String(unknown.length)} unknown moves, ${String(faults.length)} other reasons.`;
};

export const renderReport = (report: ReconcileReport): string =>
  [
    ...report.chains.flatMap(chainLines),
    ...report.faults,
    ...listed("Accepted now:", report.accepted),
    ...listed(UNKNOWN, report.unknown),
    "",
    conclusion(report),
  ].join("\n");
