import {
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  http,
  type Address,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { compileContract } from "./solidity";

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract GasBurner {
  uint256 private immutable burnt;
  constructor(uint256 gas_) { burnt = gas_; }
  receive() external payable {
    uint256 start = gasleft();
    while (start - gasleft() < burnt) {}
  }
}`;

/** Deploys a contract that burns this much gas whenever it receives coins. */
export const deployGasBurner = async (
  at: { rpcUrl: string; deployer: PrivateKeyAccount },
  gas: bigint,
): Promise<Address> => {
  const { abi, bytecode } = compileContract("GasBurner", SOURCE);
  const transport = http(at.rpcUrl);
  const args = encodeAbiParameters([{ type: "uint256" }], [gas]).slice(2);
  const hash = await createWalletClient({ transport }).deployContract({
    abi,
    bytecode: `${bytecode}${args}`,
    account: at.deployer,
    chain: null,
  });
  const reader = createPublicClient({ transport, pollingInterval: 50 });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash, timeout: 20_000 });
  if (!contractAddress) throw new Error("Nothing was deployed.");
  return contractAddress;
};
