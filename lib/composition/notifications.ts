/** The work that makes, mails and raises notifications; workers run it. */
import { privateKeyToAddress } from "viem/accounts";
import { readGasBalances } from "@/lib/chains/gas-balances";
import { createGasWatch } from "@/lib/modules/notifications/gas-watch";
import { createMailing } from "@/lib/modules/notifications/mail";
import { createMaking } from "@/lib/modules/notifications/make";
import type { Deposited } from "@/lib/modules/notifications/news";
import type { Identity } from "./identity";
import type { Money } from "./money";
import type { Platform } from "./platform";

/** Whether a deposit is large may be decided without a price. */
const PRICE_TIMEOUT_MS = 2000;

export const buildNotifying = (
  { config, database, registry, clock, errorLog: log }: Platform,
  { decisions, mailOutbox: outbox }: Pick<Identity, "decisions" | "mailOutbox">,
  { prices }: Pick<Money, "prices">,
) => {
  const worthOfDeposit = async ({ chainId, token: address, amount }: Deposited): Promise<number | null> => {
    const token = registry.resolveToken(chainId, address);
    const [price = null] = await prices.priceUsd([token], AbortSignal.timeout(PRICE_TIMEOUT_MS));
    return price === null ? null : Number(amount) * Number(price);
  };
  const executors = config.executorPrivateKeys.map((key) => privateKeyToAddress(key));
  return {
    ...createMaking({ database, decisions, worthOf: worthOfDeposit, clock, log }),
    ...createMailing({ database, outbox, publicUrl: config.publicUrl, clock }),
    watchGas: createGasWatch({
      ...{ database, clock, log },
      chains: registry.list().map(({ id, name, nativeCurrency }) => ({ id, name, coin: nativeCurrency.symbol })),
      read: (chainId) => readGasBalances(registry, chainId, executors),
    }).watch,
  };
};
