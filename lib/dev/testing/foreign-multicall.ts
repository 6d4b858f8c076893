import { createPublicClient, createWalletClient, http, type Address } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { compileContract } from "./solidity";

/**
 * The block number that the contract returns. It simulates Arbitrum, where contracts read the
 * number of an Ethereum block.
 */
export const FOREIGN_BLOCK = 7n;

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract ForeignMulticall {
  struct Call3 { address target; bool allowFailure; bytes callData; }
  struct Result { bool success; bytes returnData; }
  function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
    results = new Result[](calls.length);
    for (uint256 i = 0; i < calls.length; i++) {
      (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
      require(results[i].success || calls[i].allowFailure, "Multicall3: call failed");
    }
  }
  function getBlockNumber() external pure returns (uint256) { return ${String(FOREIGN_BLOCK)}; }
  function getCurrentBlockTimestamp() external view returns (uint256) { return block.timestamp; }
  function getEthBalance(address account) external view returns (uint256) { return account.balance; }
}`;

/** Deploys a Multicall3 whose `block.number` is another chain's. */
export const deployForeignMulticall = async (
  rpcUrl: string,
  deployer: PrivateKeyAccount,
): Promise<Address> => {
  const transport = http(rpcUrl);
  const writer = createWalletClient({ transport, account: deployer });
  const hash = await writer.deployContract({
    ...compileContract("ForeignMulticall", SOURCE),
    args: [],
    chain: null,
  });
  const reader = createPublicClient({ transport, pollingInterval: 50 });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash, timeout: 20_000 });
  if (!contractAddress) throw new Error("Nothing was deployed.");
  return contractAddress;
};
