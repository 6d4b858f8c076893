import { size } from "viem";
import type { RevertReason } from "@/lib/chain/erc4337/marked-paymaster";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { BundleTransaction } from "@/lib/chain/ports/transactions";
import { bundleCallOf } from "@/lib/chain/erc4337/bundle-call";
import { TRANSACTION_GAS_MAX } from "@/lib/chain/erc4337/user-operation";
import { type ChainContext, dryRun, usedGasOf } from "./gas";

type Hex = `0x${string}`;

export interface Wanted {
  readonly operation: UserOperation;
  readonly userOpHash: Hex;
  /**
   * True when an external wallet owns the operation's smart account. The wallet's owner has the
   * signed operation too, and can send it independently of the service.
   */
  readonly isHeldElsewhere: boolean;
  /** The previous bundle of this operation, which reverted. */
  readonly before: BundleTransaction | null;
}

/**
 * The bundles of the operations that EntryPoint accepts in simulation, and the operations that it
 * refuses.
 */
export interface Plan {
  readonly bundles: readonly (readonly Wanted[])[];
  readonly refused: ReadonlyMap<Wanted, RevertReason>;
}

/**
 * Maximum number of operations in a bundle. A larger bundle would delay its first operation, and
 * might not fit into a block with other transactions.
 */
const OPERATIONS_MAX = 50;
const GAS_MAX = TRANSACTION_GAS_MAX - 1_000_000n;
/** Maximum size of a bundle's call data. Nodes accept transactions of up to 128 kB. */
const DATA_BYTES_MAX = 100_000;
/**
 * When EntryPoint has rejected this many operations of a bundle, each of its other operations is
 * simulated separately.
 */
const REFUSALS_MAX = 3;
/**
 * Attempt from which on an operation is bundled alone, because another operation may have caused
 * the earlier reverts.
 */
const ALONE_FROM_ATTEMPT = 3;

/**
 * Whether the operation must be bundled alone. An external owner can use the operation's nonce in
 * another transaction. Then every bundle with the operation reverts, and would block all other
 * operations on the chain.
 */
const mustGoAlone = ({ before, isHeldElsewhere }: Wanted): boolean =>
  isHeldElsewhere || (before?.attempts ?? 0) + 1 >= ALONE_FROM_ATTEMPT;

const pack = (chain: ChainContext, wanted: readonly Wanted[]): Wanted[][] => {
  const bundles: Wanted[][] = [];
  let room = { gas: 0n, bytes: 0, count: 0 };
  for (const one of wanted) {
    const gas = usedGasOf(one.operation, chain);
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

const askTogether = (
  chain: ChainContext,
  wanted: readonly Wanted[],
): Promise<RevertReason | null> =>
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

/**
 * Removes refused operations one after another, until EntryPoint accepts the rest or too many were
 * refused.
 */
const sift = async (chain: ChainContext, bundle: readonly Wanted[]) => {
  let together = bundle;
  const apart: Wanted[] = [];
  for (let refusals = 0; ; refusals += 1) {
    const reason = await askTogether(chain, together);
    if (reason === null) return { together, apart, reason };
    const culprit =
      reason.operationIndex === null ? undefined : together[reason.operationIndex];
    if (culprit === undefined || refusals >= REFUSALS_MAX) return { together, apart, reason };
    apart.push(culprit);
    together = together.filter((one) => one !== culprit);
  }
};

const singles = (wanted: readonly Wanted[]): Wanted[][] => wanted.map((one) => [one]);

/**
 * Simulates the whole bundle in one `eth_call`. If EntryPoint accepts the bundle, no further
 * simulation is needed. Operations that are refused in a bundle are then simulated separately. If
 * they pass (for example two that share a deposit), they get separate bundles.
 */
const planBundle = async (chain: ChainContext, bundle: readonly Wanted[]): Promise<Plan> => {
  if (bundle.length === 1) {
    const { taken, refused } = await askEach(chain, bundle);
    return { bundles: singles(taken), refused: new Map(refused) };
  }
  const sifted = await sift(chain, bundle);
  const suspects = await askEach(chain, sifted.apart);
  const rest: Asked =
    sifted.reason === null
      ? { taken: sifted.together, refused: [] }
      : await askEach(chain, sifted.together);
  const isTaken = sifted.reason === null || (await askTogether(chain, rest.taken)) === null;
  const together = rest.taken.length > 0 && isTaken ? [rest.taken] : singles(rest.taken);
  return {
    bundles: [...together, ...singles(suspects.taken)],
    refused: new Map([...suspects.refused, ...rest.refused]),
  };
};

/**
 * Divides the operations into bundles that EntryPoint accepts in simulation.
 * @throws errors other than reverts, when the node did not answer
 */
export const planBundles = async (
  chain: ChainContext,
  wanted: readonly Wanted[],
): Promise<Plan> => {
  const alone = wanted.filter(mustGoAlone).map((one) => [one]);
  const shared = pack(
    chain,
    wanted.filter((one) => !mustGoAlone(one)),
  );
  const plans = await Promise.all(
    [...shared, ...alone].map((bundle) => planBundle(chain, bundle)),
  );
  return {
    bundles: plans.flatMap(({ bundles }) => bundles),
    refused: new Map(plans.flatMap(({ refused }) => [...refused])),
  };
};
