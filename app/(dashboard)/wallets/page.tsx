import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Wallets } from "@/components/features/wallets/wallets";

export const metadata: Metadata = { title: "Wallets" };

const Page = (): ReactNode => <Wallets />;

export default Page;
