import type { Metadata } from "next";
import type { ReactNode } from "react";
import { BalancesPage } from "@/components/features/balances/balances-page";

export const metadata: Metadata = { title: "Balances" };

const Page = (): ReactNode => <BalancesPage />;

export default Page;
