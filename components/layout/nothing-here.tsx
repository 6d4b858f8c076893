"use client";

import { SearchX } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/states";
import { PageHeader } from "@/components/ui/page-header";

export const NothingHere = (): ReactNode => (
  <>
    <PageHeader title="Nothing here" />
    <Card flush>
      <EmptyState
        icon={SearchX}
        title="This page does not exist, or it belongs to another project"
        action={
          <Link href="/" className={buttonLooks()}>
            Go to the overview
          </Link>
        }
      >
        No money was moved by this.
      </EmptyState>
    </Card>
  </>
);
