import { concatHex, erc20Abi, keccak256, numberToHex } from "viem";
import { nonceKeyOf } from "@/lib/chains/erc4337/nonce";
import type { FeeExcess } from "@/lib/core/capped-fees";
import { parentGasOf } from "@/lib/chains/parent-fee";
import { chainCall } from "@/lib/chains/registry";
import type { EvmAddress } from "@/lib/ports/routing";
import type { AccountsDeps } from "./simulate-operation";

const WORD_BYTES = 32;

/** Prefix of the code of a plain account that has delegated to a contract (EIP-7702). */
const DELEGATION = "0xef0100";

/** Reads about accounts. Each throws DomainError `chain_unavailable` when the chain does not answer. */
export const createAccountQuestions = ({ registry, smartAccounts, bundler }: AccountsDeps) => ({
  /**
   * Whether the address has contract code. A plain account that has delegated (EIP-7702) does not count, because its
   * key still signs.
   */
  isContract: async (chainId: number, address: EvmAddress): Promise<boolean> => {
    const code = (await chainCall(chainId, () => registry.client(chainId).getCode({ address }))) ?? "0x";
    return code !== "0x" && !code.startsWith(DELEGATION);
  },

  /** In wei per gas. */
  maxFeePerGas: async (chainId: number): Promise<bigint> => (await bundler.fees(chainId)).maxFeePerGas,

  /**
   * The gas that stands for the fee of so many bytes on the parent chain, at the present price; 0 unless the chain is a configured
   * rollup. The bytes are hashes, which no rollup can compress.
   */
  parentGas: (chainId: number, bytes: number): Promise<bigint> => {
    const { rollup, contracts } = registry.get(chainId);
    const words = Array.from({ length: Math.ceil(bytes / WORD_BYTES) }, (_, index) => keccak256(numberToHex(index)));
    const data = concatHex(words);
    const call = { chainId, rollup, to: contracts.entryPoint, data };
    return chainCall(chainId, () => parentGasOf(registry.client(chainId), call));
  },

  /** The price and the cap while the chain asks for more than its cap; null otherwise. */
  feeExcess: async (chainId: number): Promise<FeeExcess | null> =>
    registry.get(chainId).feeCapGwei === undefined ? null : (await bundler.fees(chainId)).aboveCap,

  head: (chainId: number): Promise<{ number: bigint; timestamp: bigint }> =>
    chainCall(chainId, () => registry.client(chainId).getBlock({ blockTag: "latest" })),

  /** The spender's current allowance of the holder's tokens, in base units. */
  allowance: (chainId: number, token: EvmAddress, owner: EvmAddress, spender: EvmAddress): Promise<bigint> =>
    chainCall(chainId, () =>
      registry
        .client(chainId)
        .readContract({ address: token, abi: erc20Abi, functionName: "allowance", args: [owner, spender] }),
    ),

  isDeployed: async (chainId: number, address: EvmAddress): Promise<boolean> => {
    const [deployed] = await smartAccounts.isDeployed(chainId, [address]);
    return deployed === true;
  },

  /** Whether an operation of the leg was executed, successfully or not. */
  wasExecuted: (
    chainId: number,
    address: EvmAddress,
    legId: string,
    at?: { readonly blockNumber: bigint },
  ): Promise<boolean> => smartAccounts.nonceUsed(chainId, address, nonceKeyOf(legId), at),
});
