/** Safe's libraries on the local chains, used through a Safe as Safe's own SDK uses them. */
import {
  encodeFunctionData,
  encodePacked,
  getContractAddress,
  hashMessage,
  parseAbi,
  parseEventLogs,
  zeroAddress,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey } from "viem/accounts";
import { expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { devAddress } from "./accounts";
import { creationCode } from "./artifacts";
import { planDeployments } from "./contracts";
import { createUnlockedSender } from "./sender";

const abi = parseAbi([
  "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)",
  "function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) returns (address)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) returns (bool)",
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
  "function signMessage(bytes data)",
  "function performCreate2(uint256 value, bytes deploymentData, bytes32 salt) returns (address)",
  "event ProxyCreation(address indexed proxy, address singleton)",
]);
const DELEGATECALL = 1;
const ERC1271_MAGIC = "0x1626ba7e";

const devnet = await testDevnet();
const registry = createChainRegistry(devnet.chains);
const { contracts } = planDeployments();
const owner = devAddress("faucet");

const newSafe = async (chainId: number): Promise<Address> => {
  const initializer = encodeFunctionData({
    abi,
    functionName: "setup",
    args: [
      [owner],
      1n,
      zeroAddress,
      "0x",
      contracts.compatibilityFallbackHandler,
      zeroAddress,
      0n,
      zeroAddress,
    ],
  });
  const data = encodeFunctionData({
    abi,
    functionName: "createProxyWithNonce",
    args: [contracts.safeL2, initializer, BigInt(generatePrivateKey())],
  });
  const { logs } = await createUnlockedSender(registry.client(chainId), owner).send({
    to: contracts.safeProxyFactory,
    data,
  });
  const [created] = parseEventLogs({ abi, logs, eventName: "ProxyCreation" });
  if (created === undefined) throw new Error("The factory created no Safe.");
  return created.args.proxy;
};

/**
 * Makes the Safe run a library's code as its own. The sender is the owner, so the signature only
 * names the owner.
 */
const delegate = async (
  chainId: number,
  safe: Address,
  call: { to: Address; data: Hex },
): Promise<void> => {
  const signature = encodePacked(["uint256", "uint256", "uint8"], [BigInt(owner), 0n, 1]);
  const data = encodeFunctionData({
    abi,
    functionName: "execTransaction",
    args: [
      call.to,
      0n,
      call.data,
      DELEGATECALL,
      0n,
      0n,
      0n,
      zeroAddress,
      zeroAddress,
      signature,
    ],
  });
  await createUnlockedSender(registry.client(chainId), owner).send({ to: safe, data });
};

test.each(devnet.chains.map(({ id }) => id))(
  "a Safe of chain %i signs a message by SignMessageLib, and makes a contract by CreateCall",
  async (chainId) => {
    const client = registry.client(chainId);
    const safe = await newSafe(chainId);
    const hash = hashMessage("Signed on chain");
    const question = {
      address: safe,
      abi,
      functionName: "isValidSignature",
      args: [hash, "0x"],
    } as const;
    await expect(client.readContract(question)).rejects.toThrow("Hash not approved");
    const signMessage = encodeFunctionData({ abi, functionName: "signMessage", args: [hash] });
    await delegate(chainId, safe, { to: contracts.signMessageLib, data: signMessage });
    expect(await client.readContract(question)).toBe(ERC1271_MAGIC);

    const [salt, bytecode] = [generatePrivateKey(), creationCode("createCall")];
    const performCreate2 = encodeFunctionData({
      abi,
      functionName: "performCreate2",
      args: [0n, bytecode, salt],
    });
    await delegate(chainId, safe, { to: contracts.createCall, data: performCreate2 });
    const made = getContractAddress({ opcode: "CREATE2", from: safe, salt, bytecode });
    expect(await client.getCode({ address: made })).toBe(
      await client.getCode({ address: contracts.createCall }),
    );
  },
);
