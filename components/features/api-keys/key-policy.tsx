import type { ReactNode } from "react";
import { Usd } from "@/components/ui/amount";
import { isMoreUsd } from "@/lib/core/usd";
import type { ApiKey } from "./api-key";

const MOVING = new Set(["swaps:write", "transfers:write", "payouts:write", "operations:write", "privacy:write"]);

interface KeyPolicyProps {
  readonly apiKey: ApiKey;
  /** Of a key with a higher limit of its own the project's counts; undefined until it is known. */
  readonly projectCap: string | undefined;
}

const smaller = (a: string, b: string | undefined): string => (b !== undefined && isMoreUsd(a, b) ? b : a);

/** Shows in short how much a key may move without a person's code, and to which recipients. The tooltip shows both in full. */
export const KeyPolicy = ({ apiKey, projectCap }: KeyPolicyProps): ReactNode => {
  if (!apiKey.scopes.some((scope) => MOVING.has(scope))) return <span className="text-fg-3">nothing</span>;
  const { recipients } = apiKey;
  return (
    <span className="flex flex-col py-1 leading-tight max-md:items-end">
      <span className="whitespace-nowrap">
        {apiKey.otp === "required" || apiKey.dailyCapUsd === null ? (
          "with a code"
        ) : (
          <>
            up to <Usd value={smaller(apiKey.dailyCapUsd, projectCap)} /> a day
          </>
        )}
      </span>
      <span className="text-sm whitespace-nowrap text-fg-3" title={recipients.join("\n")}>
        {recipients.length === 0
          ? "to any address"
          : `to ${String(recipients.length)} ${recipients.length === 1 ? "address" : "addresses"}`}
      </span>
    </span>
  );
};
