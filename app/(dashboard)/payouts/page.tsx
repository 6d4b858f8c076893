import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { PAYOUTS_QUERIES } from "@/app/_data/queries";
import { Payouts } from "@/components/features/payouts/payouts";

export const metadata: Metadata = { title: "Payouts" };

interface PageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

const Page = async ({ searchParams }: PageProps): Promise<ReactNode> => {
  // The data of a filtered list is asked for by the browser.
  const isPlain = Object.keys(await searchParams).length === 0;
  return (
    <Prefetched queries={isPlain ? PAYOUTS_QUERIES : []}>
      <Payouts />
    </Prefetched>
  );
};

export default Page;
