/** The report of `npm run reconcile`, as lines for people. */
import type { ReconcileReport } from "./reconcile";
import type { ChainReport } from "./reconcile-chain";
import { paymentsText, type UnknownMove } from "./state";

const chainLines = ({ name, fromBlock, toBlock, executed, adopted, notes }: ChainReport): string[] => [
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
