import { parseEther, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { createFaucet } from "@/lib/devnet/faucet";
import { bareAnvil } from "@/lib/testing/bare-anvil";
