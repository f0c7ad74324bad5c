import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.SplittableRandom;

/** Sizes and measured rates of Guava, as CSV. */
class Guava {
    static final int FILTERS = 20;

    static String size(BloomFilter<byte[]> filter) throws Exception {
        Field probes = BloomFilter.class.getDeclaredField("numHashFunctions");
        probes.setAccessible(true);
        Method bits = BloomFilter.class.getDeclaredMethod("bitSize");
        bits.setAccessible(true);
        return bits.invoke(filter) + "," + probes.get(filter);
    }

    static BloomFilter<byte[]> make(long items, double rate) {
        return BloomFilter.create(Funnels.byteArrayFunnel(), items, rate);
    }

    static byte[] key(SplittableRandom random) {
        byte[] key = new byte[16];
        random.nextBytes(key);
        return key;
    }

    static void measure(long items, double rate, long queries) throws Exception {
        SplittableRandom random = new SplittableRandom(items);
        long hits = 0;
        for (int f = 0; f < FILTERS; f++) {
            BloomFilter<byte[]> filter = make(items, rate);
            for (long i = 0; i < items; i++) filter.put(key(random));
            for (long i = 0; i < queries / FILTERS; i++) if (filter.mightContain(key(random))) hits++;
        }
        System.out.println("guava," + items + "," + rate + "," + size(make(items, rate)) + "," + queries + "," + hits);
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("library,items,rate,bits,probes,queries,hits");
        for (long items : new long[] {1, 2, 7, 33, 250, 4321, 1_000_000})
            for (double rate : new double[] {0.5, 0.1, 0.03, 1e-3, 1e-4, 1e-9})
                System.out.println("guava," + items + "," + rate + "," + size(make(items, rate)) + ",0,0");
        for (long items : new long[] {100, 1_000, 100_000}) {
            measure(items, 1e-2, 2_000_000);
            measure(items, 1e-6, 100_000_000);
        }
    }
}
