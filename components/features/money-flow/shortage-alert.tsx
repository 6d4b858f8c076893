import Link from "next/link";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import type { Shortage } from "./spendable";

/** Shown when a person asks for more than may be moved: names the missing amount and the next step, before any code is mailed. */
export const ShortageAlert = ({ shortage }: { readonly shortage: Shortage }): ReactNode => (
  <Alert
    tone="warning"
    title={
      <>
        You are short <Amount value={shortage.missing} unit={shortage.symbol} plain />
      </>
    }
  >
    <Amount value={shortage.spendable} unit={shortage.symbol} plain /> may be moved.
    {shortage.backing === null ? (
      <> Type less, wait for what is on its way, or add money to the wallet.</>
    ) : (
      <>
        {" "}
        <Amount value={shortage.backing} unit={shortage.symbol} plain /> must stay, because global accounts hold it.
        Type less, or{" "}
        <Link href="/accounts" className="link">
          take money back from an account
        </Link>
        .
      </>
    )}
  </Alert>
);

/** In the words of the button's reason. */
export const SHORTAGE_REASON = "More is asked for than may be moved.";
