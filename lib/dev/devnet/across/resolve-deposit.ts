import type { Address } from "viem";
import type { SolverChain } from "./chain";
import {
  FILLED,
  addressOf,
  fillCall,
  relayHash,
  spokePoolAbi,
  type Deposit,
} from "./spoke-pool";

export interface ResolveDeps {
  readonly origin: SolverChain;
  readonly chainOf: (chainId: number) => SolverChain | undefined;
  readonly spokePool: Address;
  /**
   * Whether the relayer wants to fill the deposit now. Called repeatedly until the deposit is
   * filled or expired.
   */
  readonly accepts: (deposit: Deposit, destination: SolverChain) => Promise<boolean>;
  readonly log: (message: string) => void;
}

/** The short text of an error, for the log. */
export const reason = (error: unknown): string =>
  error instanceof Error && "shortMessage" in error
    ? String(error.shortMessage)
    : String(error);

/** The relayer that filled the deposit; null when nobody has. */
const fillerOf = async (
  spokePool: Address,
  destination: SolverChain,
  deposit: Deposit,
): Promise<Address | null> => {
  const status = await destination.client.readContract({
    address: spokePool,
    abi: spokePoolAbi,
    functionName: "fillStatuses",
    args: [relayHash(deposit)],
  });
  if (status !== FILLED) return null;
  const fills = await destination.client.getContractEvents({
    address: spokePool,
    abi: spokePoolAbi,
    eventName: "FilledRelay",
    args: { originChainId: BigInt(deposit.originChainId), depositId: deposit.depositId },
    fromBlock: 0n,
    strict: true,
  });
  const fill = fills[0];
  return fill ? addressOf(fill.args.relayer) : null;
};

/**
 * Sends the transaction that fills the deposit.
 * @returns null when the deposit is filled, otherwise the reason why it cannot be filled now
 */
const fill = async (
  spokePool: Address,
  destination: SolverChain,
  deposit: Deposit,
): Promise<string | null> => {
  try {
    await destination.sender.send({
      to: spokePool,
      data: fillCall(deposit, destination.sender.address),
    });
    return null;
  } catch (error) {
    return reason(error);
  }
};

/**
 * The account to pay out: the filler, or the depositor after the deadline. Null while neither
 * applies.
 */
const outcomeOf = async (
  { origin, chainOf, spokePool }: ResolveDeps,
  deposit: Deposit,
): Promise<Address | null> => {
  const destination = chainOf(deposit.destinationChainId);
  // Reads the chain's time before the fill status. A deposit that is still unfilled at a time after
  // its deadline can never be filled, so it is safe to pay the depositor.
  const { timestamp } = await (destination ?? origin).client.getBlock({ blockTag: "latest" });
  const filler = destination ? await fillerOf(spokePool, destination, deposit) : null;
  if (filler) return filler;
  return timestamp > BigInt(deposit.fillDeadline) ? deposit.depositor : null;
};

/**
 * Fills the deposit when the relayer accepts it.
 * @returns the account to pay out; null while that is undecided
 */
export const resolveDeposit = async (
  deps: ResolveDeps,
  deposit: Deposit,
): Promise<Address | null> => {
  const { origin, chainOf, spokePool, accepts, log } = deps;
  const destination = chainOf(deposit.destinationChainId);
  if (!destination || !(await accepts(deposit, destination))) return outcomeOf(deps, deposit);
  const obstacle = await fill(spokePool, destination, deposit);
  if (obstacle === null) return destination.sender.address;
  const outcome = await outcomeOf(deps, deposit);
  if (!outcome)
    log(
      `Deposit ${String(deposit.depositId)} of chain ${String(origin.chainId)} waits: ${obstacle}`,
    );
  return outcome;
};
