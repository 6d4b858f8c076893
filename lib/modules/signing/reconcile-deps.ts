/** The parts of the service that the comparison with the chains needs. */
import type { Address, Hex } from "viem";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { UserOperation } from "@/lib/ports/bundler";
import type { KnownBatch, KnownLeg, KnownRepository } from "./known-repository";

/** A mined transaction of the service's own. */
export interface SeenTransaction {
  readonly hash: Hex;
  readonly to: Address | null;
  readonly data: Hex;
  readonly value: bigint;
}

/** The mined transaction of an account and nonce; null where there is none, `unknown` where the node cannot tell. */
export type FindByNonce = (
  chainId: number,
  sought: { readonly address: Address; readonly nonce: number; readonly fromBlock: bigint; readonly toBlock: bigint },
) => Promise<SeenTransaction | null | "unknown">;

/** An executed operation of a leg or a batch, which its row does not name. */
export interface Adopted {
  readonly operation: UserOperation;
  readonly userOpHash: Hex;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

export interface ReconcileDeps {
  readonly registry: ChainRegistry;
  readonly known: KnownRepository;
  readonly findByNonce: FindByNonce;
  /** The addresses of the executor's keys. */
  readonly executors: readonly Address[];
  /** The name of an attempt of a batch, from which its nonce key is made. */
  attemptName(batch: { readonly payoutId: string; readonly number: number }, attempt: number): string;
  /** Lets the leg's row name the operation that was executed. False where it cannot. */
  adoptLeg(leg: KnownLeg, adopted: Adopted): Promise<boolean>;
  adoptBatch(batch: KnownBatch, attempt: number, adopted: Adopted): Promise<boolean>;
}
