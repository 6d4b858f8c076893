import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { EvmAddress } from "@/lib/ports/routing";
import type { ExecutorKey, PlannedTransaction } from "@/lib/ports/transactions";
import type { TransactionRepository } from "./repository";
import type { VersionSigner } from "./version";

interface ChooseKeyDeps {
  readonly registry: ChainRegistry;
  readonly repository: Pick<TransactionRepository, "unminedCounts">;
  readonly sign: Pick<VersionSigner, "addressOf">;
  /** The keys that share the load. The first is used when no key can pay. */
  readonly keyIds: readonly string[];
  /** Whether a contract takes a call from this account. */
  readonly mayCall: (chainId: number, from: EvmAddress, to: EvmAddress) => Promise<boolean>;
}

/**
 * Chooses the key that has the fewest transactions under way on the chain, among those that can pay and that the called contract
 * accepts. Keys with the same number take turns.
 */
export const createKeyChoice = ({ registry, repository, sign, keyIds, mayCall }: ChooseKeyDeps) => {
  let turn = 0;

  const isUsable = async ({ address }: ExecutorKey, { chainId, to, costWei }: PlannedTransaction): Promise<boolean> => {
    const [balance, isAccepted] = await chainCall(chainId, () =>
      Promise.all([registry.client(chainId).getBalance({ address }), mayCall(chainId, address, to)]),
    );
    return isAccepted && balance >= costWei;
  };

  return async (planned: PlannedTransaction): Promise<ExecutorKey> => {
    const keys = await Promise.all(keyIds.map(async (keyId) => ({ keyId, address: await sign.addressOf(keyId) })));
    const [first] = keys;
    if (first === undefined) throw new Error("The service has no executor.");
    if (keys.length === 1) return first;
    const counts = await repository.unminedCounts(
      planned.chainId,
      keys.map(({ address }) => address),
    );
    turn += 1;
    const ordered = keys
      .map((key, index) => ({ key, busy: counts.get(key.address) ?? 0, turn: (index + turn) % keys.length }))
      .sort((one, other) => one.busy - other.busy || one.turn - other.turn);
    for (const { key } of ordered) if (await isUsable(key, planned)) return key;
    return first;
  };
};
