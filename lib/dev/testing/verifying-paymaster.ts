import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  parseAbi,
  parseEther,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { packUserOperation } from "@/lib/chain/erc4337/user-operation";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { BareAnvil } from "./bare-anvil";

const abi = parseAbi([
  "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }",
  "constructor(address entryPoint, address verifyingSigner)",
  "function getHash(PackedUserOperation userOp, uint48 validUntil, uint48 validAfter) view returns (bytes32)",
  "function deposit() payable",
]);
const artifact = z.object({
  bytecode: z.custom<Hex>((value) => typeof value === "string" && value.startsWith("0x")),
});
const VALIDITY = encodeAbiParameters(
  [{ type: "uint48" }, { type: "uint48" }],
  [2 ** 48 - 1, 0],
);

/**
 * The reference paymaster of account-abstraction 0.7.0, which consents by its signature in the
 * operation. Operations that were signed before the project had its own paymaster use it, and tests
 * compare its gas.
 */
export const deployVerifyingPaymaster = async ({ client }: BareAnvil, entryPoint: Address) => {
  const file = createRequire(import.meta.url).resolve(
    "@account-abstraction/contracts/artifacts/VerifyingPaymaster.json",
  );
  const { bytecode } = artifact.parse(JSON.parse(readFileSync(file, "utf8")));
  const signer = privateKeyToAccount(generatePrivateKey());
  const from: Address = "0x00000000000000000000000000000000000000a1";
  await client.setBalance({ address: from, value: parseEther("100") });
  await client.impersonateAccount({ address: from });
  const send = async (transaction: { to?: Address; data: Hex; value?: bigint }) => {
    const hash = await client.sendUnsignedTransaction({
      from,
      gas: 5_000_000n,
      ...transaction,
    });
    return client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  };
  const data = encodeDeployData({ abi, bytecode, args: [entryPoint, signer.address] });
  const { contractAddress } = await send({ data });
  if (!contractAddress) throw new Error("The paymaster was not deployed.");
  const address = getAddress(contractAddress);
  await send({
    to: address,
    data: encodeFunctionData({ abi, functionName: "deposit" }),
    value: parseEther("10"),
  });

  /**
   * Adds this paymaster and its signature to the operation. The gas of the operation must be
   * final, and its owner signs afterwards.
   */
  const sponsor = async (operation: UserOperation): Promise<UserOperation> => {
    const unsigned = { ...operation, paymaster: address };
    const packed = packUserOperation({ ...unsigned, paymasterData: "0x" });
    const raw = await client.readContract({
      address,
      abi,
      functionName: "getHash",
      args: [packed, 2 ** 48 - 1, 0],
    });
    return {
      ...unsigned,
      paymasterData: concatHex([VALIDITY, await signer.signMessage({ message: { raw } })]),
    };
  };
  return { address, sponsor };
};
