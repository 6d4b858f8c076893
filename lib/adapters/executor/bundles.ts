import { size } from "viem";
import type { RevertReason } from "@/lib/chains/erc4337/revert-reason";
import type { UserOperation } from "@/lib/ports/bundler";
import type { BundleTransaction } from "@/lib/ports/transactions";
import { bundleCallOf } from "@/lib/chains/erc4337/bundle-call";
import { bundledGasOf, TRANSACTION_GAS_MAX } from "@/lib/chains/erc4337/gas-limits";
import type { ChainContext } from "./chain-context";
import { dryRun } from "./simulation";

type Hex = `0x${string}`;

/** A signed operation that is to be brought on chain. */
export interface Wanted {
  readonly operation: UserOperation;
  readonly userOpHash: Hex;
  /** Its account's owner is outside of the service. */
  readonly isHeldElsewhere: boolean;
  /** The bundle that carried it and reverted. */
  readonly before: BundleTransaction | null;
}

/** How the wanted are bundled, as EntryPoint would take them now. */
export interface Plan {
  readonly bundles: readonly (readonly Wanted[])[];
  readonly refused: ReadonlyMap<Wanted, RevertReason>;
}

/** More would hold up the first of them, and blocks have room for other things too. */
const OPERATIONS_MAX = 50;
const GAS_MAX = TRANSACTION_GAS_MAX - 1_000_000n;
/** Nodes take transactions of up to 128 kB. */
const DATA_BYTES_MAX = 100_000;
/** After so many refusals each operation of the bundle is asked about by itself. */
const REFUSALS_MAX = 3;
/** From this bundle on an operation goes by itself: what made the ones before revert may have been another one. */
const ALONE_FROM_ATTEMPT = 3;

/** An owner who spends its nonce on something else makes every bundle revert that holds it, and so could stop all others on the chain. */
const mustGoAlone = ({ before, isHeldElsewhere }: Wanted): boolean =>
  isHeldElsewhere || (before?.attempts ?? 0) + 1 >= ALONE_FROM_ATTEMPT;

/** In order, as many in each bundle as number, gas and size allow. */
const pack = (chain: ChainContext, wanted: readonly Wanted[]): Wanted[][] => {
  const bundles: Wanted[][] = [];
  let room = { gas: 0n, bytes: 0, count: 0 };
  for (const one of wanted) {
    const gas = bundledGasOf(one.operation);
    const bytes = size(bundleCallOf(chain, [one.operation]).data);
    const fits = gas <= room.gas && bytes <= room.bytes && room.count > 0;
    if (fits) bundles.at(-1)?.push(one);
    else {
      bundles.push([one]);
      room = { gas: GAS_MAX, bytes: DATA_BYTES_MAX, count: OPERATIONS_MAX };
    }
    room = { gas: room.gas - gas, bytes: room.bytes - bytes, count: room.count - 1 };
  }
  return bundles;
};

interface Asked {
  readonly taken: readonly Wanted[];
  readonly refused: readonly (readonly [Wanted, RevertReason])[];
}

const askTogether = (chain: ChainContext, wanted: readonly Wanted[]): Promise<RevertReason | null> =>
  wanted.length === 0
    ? Promise.resolve(null)
    : dryRun(
        chain,
        wanted.map(({ operation }) => operation),
      );

const askEach = async (chain: ChainContext, wanted: readonly Wanted[]): Promise<Asked> => {
  const answers = await Promise.all(wanted.map((one) => askTogether(chain, [one])));
  return {
    taken: wanted.filter((_, index) => answers[index] === null),
    refused: wanted.flatMap((one, index) => {
      const reason = answers[index];
      return reason ? [[one, reason] as const] : [];
    }),
  };
};

/** Takes out which EntryPoint refuses, one after another, until it takes the rest or too many were refused. */
const sift = async (chain: ChainContext, bundle: readonly Wanted[]) => {
  let together = bundle;
  const apart: Wanted[] = [];
  for (let refusals = 0; ; refusals += 1) {
    const reason = await askTogether(chain, together);
    if (reason === null) return { together, apart, reason };
    const culprit = reason.operationIndex === null ? undefined : together[reason.operationIndex];
    if (culprit === undefined || refusals >= REFUSALS_MAX) return { together, apart, reason };
    apart.push(culprit);
    together = together.filter((one) => one !== culprit);
  }
};

const singles = (wanted: readonly Wanted[]): Wanted[][] => wanted.map((one) => [one]);

/**
 * One `eth_call` asks about the whole bundle, which is all there is to it when nothing is wrong. Those that are refused beside
 * the others are asked about by themselves; what is taken then (two that draw on the same deposit) gets a bundle of its own.
 */
const planBundle = async (chain: ChainContext, bundle: readonly Wanted[]): Promise<Plan> => {
  if (bundle.length === 1) {
    const { taken, refused } = await askEach(chain, bundle);
    return { bundles: singles(taken), refused: new Map(refused) };
  }
  const sifted = await sift(chain, bundle);
  const suspects = await askEach(chain, sifted.apart);
  const rest: Asked =
    sifted.reason === null ? { taken: sifted.together, refused: [] } : await askEach(chain, sifted.together);
  const isTaken = sifted.reason === null || (await askTogether(chain, rest.taken)) === null;
  const together = rest.taken.length > 0 && isTaken ? [rest.taken] : singles(rest.taken);
  return {
    bundles: [...together, ...singles(suspects.taken)],
    refused: new Map([...suspects.refused, ...rest.refused]),
  };
};

/** @throws what is not a revert: the node did not answer */
export const planBundles = async (chain: ChainContext, wanted: readonly Wanted[]): Promise<Plan> => {
  const alone = wanted.filter(mustGoAlone).map((one) => [one]);
  const shared = pack(
    chain,
    wanted.filter((one) => !mustGoAlone(one)),
  );
  const plans = await Promise.all([...shared, ...alone].map((bundle) => planBundle(chain, bundle)));
  return {
    bundles: plans.flatMap(({ bundles }) => bundles),
    refused: new Map(plans.flatMap(({ refused }) => [...refused])),
  };
};
