import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  createPublicClient,
  createWalletClient,
  http,
  parseAbi,
  type Abi,
  type Address,
  type Hex,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { compileContract } from "./solidity";

/**
 * How transfers of the token behave. `refusesSilently`: `transferFrom` without an allowance returns
 * false.
 */
export const ODD_MODE = {
  honest: 0,
  keepsTwoPercent: 1,
  movesNothing: 2,
  returnsNothing: 3,
  refusesSilently: 4,
  /** Moves the tokens without emitting an event. */
  movesQuietly: 5,
} as const;

/**
 * The result of transfers to a special recipient. `trapped`: they succeed in simulations and revert
 * on chain.
 */
export const ODD_RECIPIENT = { usual: 0, blocked: 1, ignored: 2, trapped: 3 } as const;

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract OddToken {
  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);
  string public constant symbol = "ODD";
  uint8 public constant decimals = 6;
  uint8 public mode;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  mapping(address => uint8) public special;
  constructor(uint8 first) { mode = first; }
  function setSpecial(address to, uint8 next) external { special[to] = next; }
  function setMode(uint8 next) external { mode = next; }
  function mint(address to, uint256 value) external { balanceOf[to] += value; emit Transfer(address(0), to, value); }
  function approve(address spender, uint256 value) external returns (bool) {
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
    return true;
  }
  function transfer(address to, uint256 value) external returns (bool) { return move(msg.sender, to, value); }
  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    if (mode == 4 && allowance[from][msg.sender] < value) return false;
    allowance[from][msg.sender] -= value;
    return move(from, to, value);
  }
  function move(address from, address to, uint256 value) private returns (bool) {
    if (mode == 2) return false;
    require(special[to] != 1, "the recipient is blocked");
    require(special[to] != 3 || tx.origin == address(0), "it is a trap");
    if (special[to] == 2) return true;
    uint256 fee = mode == 1 ? value / 50 : 0;
    balanceOf[from] -= value;
    balanceOf[to] += value - fee;
    if (mode != 5) emit Transfer(from, to, value - fee);
    if (fee > 0) { balanceOf[address(this)] += fee; emit Transfer(from, address(this), fee); }
    if (mode == 3) assembly { return(0, 0) }
    return true;
  }
}`;

const mintAbi = parseAbi([
  "function mint(address to, uint256 value)",
  "function setMode(uint8 next)",
  "function setSpecial(address to, uint8 next)",
]);

export interface OddToken {
  readonly address: Address;
  mint(to: Address, amountBase: bigint): Promise<void>;
  setMode(mode: number): Promise<void>;
  /** @see ODD_RECIPIENT */
  setSpecial(recipient: Address, special: number): Promise<void>;
}

const clientsOf = (rpcUrl: string) => {
  const transport = http(rpcUrl);
  return {
    reader: createPublicClient({ transport, pollingInterval: 50 }),
    writer: createWalletClient({ transport }),
  };
};

const deploy = async (
  at: { rpcUrl: string; deployer: PrivateKeyAccount },
  contract: { abi: Abi; bytecode: Hex },
  args: readonly unknown[],
): Promise<OddToken> => {
  const { reader, writer } = clientsOf(at.rpcUrl);
  const chain = null;
  const mined = async (hash: Hex) => {
    const receipt = await reader.waitForTransactionReceipt({ hash, timeout: 20_000 });
    if (receipt.status !== "success") throw new Error(`The transaction ${hash} reverted.`);
    return receipt;
  };
  const hash = await writer.deployContract({ ...contract, args, account: at.deployer, chain });
  const { contractAddress } = await mined(hash);
  if (!contractAddress) throw new Error("Nothing was deployed.");
  const write = async (
    functionName: "mint" | "setMode" | "setSpecial",
    values: readonly unknown[],
  ): Promise<void> => {
    const call = { address: contractAddress, abi: mintAbi as Abi, functionName, args: values };
    await mined(await writer.writeContract({ ...call, account: at.deployer, chain }));
  };
  return {
    address: contractAddress,
    mint: (to, amountBase) => write("mint", [to, amountBase]),
    setMode: (mode) => write("setMode", [mode]),
    setSpecial: (recipient, special) => write("setSpecial", [recipient, special]),
  };
};

/**
 * Deploys a token with six decimals whose transfers behave according to `mode`, which can be
 * changed.
 */
export const deployOddToken = (
  at: { rpcUrl: string; deployer: PrivateKeyAccount },
  mode: number,
): Promise<OddToken> => deploy(at, compileContract("OddToken", SOURCE), [mode]);

/** Tron's USDT: `transfer` moves the tokens and returns false. */
export const deployTronUsdt = (at: {
  rpcUrl: string;
  deployer: PrivateKeyAccount;
}): Promise<OddToken> => {
  const path = createRequire(import.meta.url).resolve(
    "@across-protocol/contracts/dist/evm/artifacts/MockTronUSDT.sol/MockTronUSDT.json",
  );
  return deploy(at, JSON.parse(readFileSync(path, "utf8")) as { abi: Abi; bytecode: Hex }, []);
};
