import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Receive } from "@/components/features/receive/receive";

export const metadata: Metadata = { title: "Receive" };

const Page = (): ReactNode => <Receive />;

export default Page;
