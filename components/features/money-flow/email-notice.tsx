"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useFactors } from "@/components/features/approvals/use-factors";
import { useMe } from "@/components/features/profile/use-me";
import { Alert } from "@/components/ui/alert";

/**
 * A warning above forms that end with an approval. It is shown to people who have neither a
 * verified address nor a second factor.
 */
export const EmailNotice = (): ReactNode => {
  const me = useMe().data;
  const { hasApp, hasPasskey } = useFactors();
  if (me === undefined || me.emailVerified || hasApp || hasPasskey) return null;
  return (
    <Alert tone="warning" title="You have no verified e-mail address yet">
      The code that approves a payment goes there.{" "}
      <Link href="/settings#email" className="link">
        Verify an e-mail address
      </Link>
      ; what you type here stays.
    </Alert>
  );
};
