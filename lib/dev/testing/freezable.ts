import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  http,
  parseAbi,
  type Address,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { compileContract } from "./solidity";

// The functions have the names of Circle's FiatToken, Tether's TetherToken and Chainalysis'
// SanctionsList.
const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract SanctionsList {
  mapping(address => bool) internal listed;
  function addToSanctionsList(address[] calldata all) external { for (uint256 i; i < all.length; i++) listed[all[i]] = true; }
  function removeFromSanctionsList(address[] calldata all) external { for (uint256 i; i < all.length; i++) listed[all[i]] = false; }
  function isSanctioned(address one) external view returns (bool) { return listed[one]; }
}
abstract contract Freezable is SanctionsList {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);
  uint8 public constant decimals = 6;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  function mint(address to, uint256 value) external { balanceOf[to] += value; emit Transfer(address(0), to, value); }
  function approve(address to, uint256 value) external returns (bool) { allowance[msg.sender][to] = value; return true; }
  function transfer(address to, uint256 value) external returns (bool) { return move(msg.sender, to, value); }
  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    allowance[from][msg.sender] -= value;
    return move(from, to, value);
  }
  function move(address from, address to, uint256 value) private returns (bool) {
    require(!listed[from] && !listed[to]);
    balanceOf[from] -= value;
    balanceOf[to] += value;
    emit Transfer(from, to, value);
    return true;
  }
}
contract CircleLike is Freezable {
  string public constant symbol = "FUSDC";
  function isBlacklisted(address one) external view returns (bool) { return listed[one]; }
}
contract TetherLike is Freezable {
  string public constant symbol = "FUSDT";
  function isBlackListed(address one) external view returns (bool) { return listed[one]; }
}`;

const abi = parseAbi([
  "function addToSanctionsList(address[] all)",
  "function removeFromSanctionsList(address[] all)",
  "function mint(address to, uint256 value)",
]);

interface At {
  readonly rpcUrl: string;
  readonly deployer: PrivateKeyAccount;
}

/**
 * Deploys a mock whose list of addresses the test sets: a sanctions oracle, or a token whose issuer
 * freezes addresses.
 */
export const deployLookAlike = async (
  { rpcUrl, deployer }: At,
  name: "SanctionsList" | "CircleLike" | "TetherLike",
): Promise<{
  readonly address: Address;
  add(...addresses: Address[]): Promise<void>;
  remove(...addresses: Address[]): Promise<void>;
  mint(to: Address, amountBase: bigint): Promise<void>;
}> => {
  const transport = http(rpcUrl);
  const reader = createPublicClient({ transport, pollingInterval: 50 });
  const writer = createWalletClient({ transport, account: deployer });
  const mined = async (hash: `0x${string}`) => {
    const receipt = await reader.waitForTransactionReceipt({ hash, timeout: 20_000 });
    if (receipt.status !== "success") throw new Error(`The transaction ${hash} reverted.`);
    return receipt;
  };
  const { contractAddress: address } = await mined(
    await writer.deployContract({ ...compileContract(name, SOURCE), chain: null }),
  );
  if (!address) throw new Error("Nothing was deployed.");
  const write = async (
    call:
      | { functionName: "addToSanctionsList" | "removeFromSanctionsList"; args: [Address[]] }
      | { functionName: "mint"; args: [Address, bigint] },
  ): Promise<void> => {
    await mined(
      await writer.sendTransaction({
        to: address,
        data: encodeFunctionData({ abi, ...call }),
        chain: null,
      }),
    );
  };
  return {
    address,
    add: (...all) => write({ functionName: "addToSanctionsList", args: [all] }),
    remove: (...all) => write({ functionName: "removeFromSanctionsList", args: [all] }),
    mint: (to, amountBase) => write({ functionName: "mint", args: [to, amountBase] }),
  };
};
