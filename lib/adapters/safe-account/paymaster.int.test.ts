import { parseAbi, pad, toHex } from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { packUserOperation } from "@/lib/chains/erc4337/user-operation";
import { startOperationChain } from "@/lib/testing/bundler-harness";
import { deploymentOf, CANONICAL_CONTRACTS } from "./encoding";
import { createPaymasterSigner, paymasterHash } from "./paymaster";
import { DUMMY_SIGNATURE } from "./signing";

const CHAIN_ID = 41_340;
const chain = await startOperationChain(CHAIN_ID);
afterAll(() => chain.anvil.stop());

const paymasterAbi = parseAbi([
  "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }",
  "function getHash(PackedUserOperation userOp, uint48 validUntil, uint48 validAfter) view returns (bytes32)",
]);
const VALID_UNTIL = new Date("2031-01-01T00:00:00Z");
const deployment = deploymentOf("0x1111111111111111111111111111111111111111", CANONICAL_CONTRACTS);

const operation = (seed: number, isDeployed: boolean) => ({
  sender: pad(toHex(seed), { size: 20 }),
  nonce: 2n ** 200n + BigInt(seed),
  ...(isDeployed ? {} : { factory: deployment.to, factoryData: deployment.data }),
  callData: toHex(`call ${String(seed)}`),
  callGasLimit: 100_001n,
  verificationGasLimit: 200_002n,
  preVerificationGas: 50_003n,
  maxFeePerGas: 4_000_000_004n,
  maxPriorityFeePerGas: 1_000_000_005n,
  paymaster: chain.paymaster,
  paymasterVerificationGasLimit: 60_006n,
  paymasterPostOpGasLimit: 7n,
  paymasterData: "0x" as const,
  signature: DUMMY_SIGNATURE,
});

describe("VerifyingPaymaster", () => {
  test.each([
    [1, true],
    [2, false],
  ])("the hash that is signed is the contract's own (operation %i)", async (seed, isDeployed) => {
    const unsigned = operation(seed, isDeployed);
    const paymasterData = await createPaymasterSigner(chain.signer).data({
      chainId: CHAIN_ID,
      paymaster: chain.paymaster,
      operation: unsigned,
      validUntil: VALID_UNTIL,
    });
    const packed = packUserOperation({ ...unsigned, paymasterData });
    const expected = await chain.anvil.client.readContract({
      address: chain.paymaster,
      abi: paymasterAbi,
      functionName: "getHash",
      args: [packed, VALID_UNTIL.getTime() / 1000, 0],
    });
    const ours = paymasterHash({
      chainId: CHAIN_ID,
      paymaster: chain.paymaster,
      operation: unsigned,
      validUntil: VALID_UNTIL,
    });
    expect(ours).toBe(expected);
  });

  test("the stub is as long as the real data, so that an estimate prices it right", async () => {
    const signer = createPaymasterSigner(chain.signer);
    const real = await signer.data({
      chainId: CHAIN_ID,
      paymaster: chain.paymaster,
      operation: operation(3, true),
      validUntil: VALID_UNTIL,
    });
    expect(await signer.stubData()).toHaveLength(real.length);
  });
});
