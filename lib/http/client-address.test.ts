import { expect, test } from "vitest";
import { addressBucket, clientAddress, inputFromRequest } from "./input";

const input = (forwarded: string) => ({
  ...inputFromRequest(
    new Request("http://localhost/api", { headers: { "x-forwarded-for": forwarded } }),
  ),
  peerAddress: "10.0.0.9",
});

test("without trusted proxies the header proves nothing", () => {
  expect(clientAddress(input("1.2.3.4"), 0)).toBe("10.0.0.9");
});

test("behind one proxy its entry counts, not what the caller put before it", () => {
  expect(clientAddress(input("6.6.6.6, 1.2.3.4"), 1)).toBe("1.2.3.4");
  expect(clientAddress(input("6.6.6.6, 1.2.3.4, 10.0.0.1"), 2)).toBe("1.2.3.4");
});

test.each([
  ["1.2.3.4", "1.2.3.4"],
  ["::ffff:1.2.3.4", "1.2.3.4"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["::1", "0:0:0:0::/64"],
  ["", "unknown"],
])("%s shares the limit of %s", (address, bucket) => {
  expect(addressBucket(address)).toBe(bucket);
});
