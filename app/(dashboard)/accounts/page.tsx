import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { ACCOUNTS_QUERIES } from "@/app/_data/queries";
import { Accounts } from "@/components/features/global-accounts/accounts";

export const metadata: Metadata = { title: "Global accounts" };

interface PageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

const Page = async ({ searchParams }: PageProps): Promise<ReactNode> => {
  // The data of a filtered list is asked for by the browser.
  const isPlain = Object.keys(await searchParams).length === 0;
  return (
    <Prefetched queries={isPlain ? ACCOUNTS_QUERIES : []}>
      <Accounts />
    </Prefetched>
  );
};

export default Page;
